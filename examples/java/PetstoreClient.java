import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;

/** A small client of the pet store service: the code under test in this example. */
record PetstoreClient(HttpClient http, String url, String key) {
  enum Outcome {
    CANCELLED,
    SHIPPED,
    UNKNOWN
  }

  Outcome cancel(long orderId) throws IOException, InterruptedException {
    var request =
        HttpRequest.newBuilder(URI.create(url + "/store/orders/" + orderId))
            .header("Authorization", "Bearer " + key)
            .DELETE()
            .build();
    int status = http.send(request, BodyHandlers.discarding()).statusCode();
    return switch (status) {
      case 204 -> Outcome.CANCELLED;
      case 409 -> Outcome.SHIPPED;
      case 404 -> Outcome.UNKNOWN;
      default -> throw new IOException("The service answered with " + status + ".");
    };
  }
}

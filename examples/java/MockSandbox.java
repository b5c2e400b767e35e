import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Objects;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * Controls one sandbox of a running petstore-mock: an isolated copy of its store, keys and journal.
 *
 * <p>PETSTORE_MOCK_URL and PETSTORE_MOCK_KEY come from {@code petstore-mock exec}. A server that
 * does not listen on loopback also wants the PETSTORE_MOCK_CONTROL_TOKEN it was started with.
 */
final class MockSandbox {
  private static final Pattern COUNT =
      Pattern.compile("\"count\"\\s*:\\s*(\\d+)\\s*,\\s*\"complete\"\\s*:\\s*(true|false)");

  private final HttpClient http;
  private final String base;

  MockSandbox(HttpClient http) {
    this.http = http;
    String service = variable("PETSTORE_MOCK_URL", "http://127.0.0.1:4010/v1");
    base = service.replaceFirst("/v1$", "") + "/~java-" + UUID.randomUUID();
  }

  /** The base URL for the client under test. */
  String url() {
    return base + "/v1";
  }

  String key() {
    return variable("PETSTORE_MOCK_KEY", "demo-key");
  }

  /** Marks an order as shipped, so that it can no longer be cancelled. */
  void ship(long orderId) throws IOException, InterruptedException {
    control("PATCH", "orders/" + orderId, "{\"status\":\"shipped\"}");
  }

  /** Replaces the active scenarios by one. */
  void use(String scenario) throws IOException, InterruptedException {
    control("PUT", "scenario", "{\"scenarios\":[\"" + scenario + "\"]}");
  }

  /** Counts the calls of an operation that got a status. */
  int count(String operation, int status) throws IOException, InterruptedException {
    var filters = "{\"operation\":\"" + operation + "\",\"status\":" + status + "}";
    var reply = COUNT.matcher(control("POST", "requests/count", filters));
    if (!reply.find() || reply.group(2).equals("false")) {
      throw new IllegalStateException("The journal has dropped exchanges: use a larger --journal.");
    }
    return Integer.parseInt(reply.group(1));
  }

  /** Holds these calls of an operation back, such as "1", "2-3" or "1-", until they are released. */
  void hold(String name, String operation, String calls) throws IOException, InterruptedException {
    var rule = "{\"hold\":\"%s\",\"on\":\"%s\",\"calls\":\"%s\"}";
    control("POST", "holds", rule.formatted(name, operation, calls));
  }

  /** Waits until so many held calls have arrived, for 5 seconds at most. */
  void arrived(String name, int count) throws IOException, InterruptedException {
    var wait = "{\"hold\":\"%s\",\"atLeast\":%d,\"within\":\"PT5S\"}".formatted(name, count);
    var reply = COUNT.matcher(control("POST", "requests/count", wait));
    if (!reply.find() || Integer.parseInt(reply.group(1)) < count) {
      throw new IllegalStateException("The calls did not arrive within 5 seconds.");
    }
  }

  /** Sends the held replies, and holds no later ones. */
  void release(String name, boolean newestFirst) throws IOException, InterruptedException {
    var which = "{\"name\":\"%s\",\"newestFirst\":%b,\"open\":true}";
    control("POST", "holds/release", which.formatted(name, newestFirst));
  }

  private String control(String method, String path, String body)
      throws IOException, InterruptedException {
    var request =
        HttpRequest.newBuilder(URI.create(base + "/__mock/" + path))
            .header("Content-Type", "application/json")
            .method(method, BodyPublishers.ofString(body));
    var token = System.getenv("PETSTORE_MOCK_CONTROL_TOKEN");
    if (token != null) request.header("Authorization", "Bearer " + token);
    var reply = http.send(request.build(), BodyHandlers.ofString());
    if (reply.statusCode() >= 400) throw new IOException(reply.body());
    return reply.body();
  }

  private static String variable(String name, String otherwise) {
    return Objects.requireNonNullElse(System.getenv(name), otherwise);
  }
}

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;

/**
 * Makes the calls of a file with java.net.http, and prints a line for each reply. A line of the file
 * is method, path, key and body, a line printed is status and body, with tabs between.
 */
class HttpClientCaller {
  private static final Pattern ID = Pattern.compile("(\"(?:id|petId|categoryId)\":)(-?\\d+)");

  public static void main(String[] args) throws Exception {
    // The default client: it asks for HTTP/2 first, and stays with HTTP/1.1 if the server has no other.
    HttpClient client = HttpClient.newHttpClient();
    for (String line : Files.readAllLines(Path.of(args[1]))) {
      String[] parts = line.split("\t", -1);
      HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(args[0] + parts[1]))
          .header("Authorization", "Bearer " + parts[2]);
      if (parts[3].isEmpty()) {
        request.method(parts[0], BodyPublishers.noBody());
      } else {
        request.header("Content-Type", "application/json");
        request.method(parts[0], BodyPublishers.ofString(parts[3]));
      }
      var reply = client.send(request.build(), BodyHandlers.ofString());
      // Each id through a long, as a Java client keeps it.
      String body = ID.matcher(reply.body()).replaceAll(id -> id.group(1) + Long.parseLong(id.group(2)));
      System.out.println(reply.statusCode() + "\t" + body);
    }
  }
}

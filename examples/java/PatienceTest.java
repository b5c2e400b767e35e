import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** Holds replies back. Runs as {@code java -cp classes PatienceTest}: see OrdersTest. */
final class PatienceTest {
  /** A screen of an app that shows animals and orders: the code under test. */
  private static final class Screen {
    private final HttpClient http;
    private final MockSandbox mock;
    private final Set<Long> cancelled = new HashSet<>();
    private int searches;
    boolean isLoading;
    String animals = "";
    String orders = "";

    Screen(HttpClient http, MockSandbox mock) {
      this.http = http;
      this.mock = mock;
    }

    synchronized CompletableFuture<Void> search(String status) {
      int search = ++searches;
      isLoading = true;
      return http.sendAsync(request("/pets?status=" + status).build(), BodyHandlers.ofString())
          .thenAccept(reply -> show(search, reply.body()));
    }

    private synchronized void show(int search, String found) {
      if (search != searches) return;
      animals = found;
      isLoading = false;
    }

    CompletableFuture<Void> showOrders() {
      return http.sendAsync(request("/store/orders").build(), BodyHandlers.ofString())
          .thenAccept(reply -> orders = without(reply.body()));
    }

    private String without(String list) {
      for (long id : cancelled) list = list.replaceFirst("\\{\"id\":" + id + ",[^}]*}", "");
      return list;
    }

    void cancel(long id, Duration patience) throws IOException, InterruptedException {
      var delete = request("/store/orders/" + id).DELETE();
      try {
        http.send(delete.copy().timeout(patience).build(), BodyHandlers.ofString());
      } catch (HttpTimeoutException late) {
        var reply = http.send(delete.build(), BodyHandlers.ofString());
        // The first attempt may have cancelled it, although its reply was late.
        if (reply.statusCode() != 204 && !reply.body().contains("order_already_cancelled")) {
          throw new IOException(reply.body(), late);
        }
      }
      cancelled.add(id);
    }

    private HttpRequest.Builder request(String path) {
      return HttpRequest.newBuilder(URI.create(mock.url() + path))
          .header("Authorization", "Bearer " + mock.key());
    }
  }

  public static void main(String[] args) throws Exception {
    var http = HttpClient.newHttpClient();
    showsASpinnerUntilTheListIsThere(http);
    keepsACancelledOrderAwayWhenAnOlderListArrives(http);
    showsTheLatestSearchEvenIfItsReplyComesFirst(http);
    takesAnOrderForCancelledWhenOnlyTheReplyWasLate(http);
    System.out.println("4 tests passed");
  }

  private static void showsASpinnerUntilTheListIsThere(HttpClient http) throws Exception {
    var mock = new MockSandbox(http);
    var screen = new Screen(http, mock);
    mock.hold("list", "listPets", "1-");
    var searched = screen.search("available");
    mock.arrived("list", 1);
    check(screen.isLoading, "a spinner");
    mock.release("list", false);
    searched.join();
    check(!screen.isLoading, "no spinner");
  }

  private static void keepsACancelledOrderAwayWhenAnOlderListArrives(HttpClient http)
      throws Exception {
    var mock = new MockSandbox(http);
    var screen = new Screen(http, mock);
    mock.hold("orders", "listOrders", "1-");
    var shown = screen.showOrders();
    mock.arrived("orders", 1);
    screen.cancel(1, Duration.ofSeconds(10));
    mock.release("orders", false);
    shown.join();
    check(!screen.orders.contains("{\"id\":1,"), "no order 1");
  }

  private static void showsTheLatestSearchEvenIfItsReplyComesFirst(HttpClient http)
      throws Exception {
    var mock = new MockSandbox(http);
    var screen = new Screen(http, mock);
    mock.hold("list", "listPets", "1-");
    var first = screen.search("available");
    mock.arrived("list", 1);
    var second = screen.search("sold");
    mock.arrived("list", 2);
    mock.release("list", true);
    CompletableFuture.allOf(first, second).join();
    check(screen.animals.contains("sold") && !screen.animals.contains("available"), "sold animals");
  }

  private static void takesAnOrderForCancelledWhenOnlyTheReplyWasLate(HttpClient http)
      throws Exception {
    var mock = new MockSandbox(http);
    mock.hold("cancel", "cancelOrder", "1");
    new Screen(http, mock).cancel(1, Duration.ofSeconds(1));
    check(mock.count("cancelOrder", 409) == 1, "a second attempt");
  }

  private static void check(boolean isTrue, String expected) {
    if (!isTrue) throw new AssertionError("expected " + expected);
  }
}

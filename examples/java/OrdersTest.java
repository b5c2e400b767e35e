import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.net.http.HttpClient;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * Tests a client against petstore-mock with nothing but the JDK (17 or later). In this folder:
 *
 * <pre>
 * javac -d classes *.java
 * npx petstore-mock exec -- java -cp classes OrdersTest
 * </pre>
 */
final class OrdersTest {
  public static void main(String[] args) throws Exception {
    var http = HttpClient.newBuilder().sslContext(trusted(System.getenv("PETSTORE_MOCK_CA"))).build();
    cancelsAPendingOrder(http);
    reportsThatAnOrderHasShipped(http);
    failsLoudlyDuringAnOutage(http);
    System.out.println("3 tests passed");
  }

  private static void cancelsAPendingOrder(HttpClient http) throws Exception {
    var mock = new MockSandbox(http);
    expect(PetstoreClient.Outcome.CANCELLED, clientOf(http, mock).cancel(1));
    expect(1, mock.count("cancelOrder", 204));
  }

  private static void reportsThatAnOrderHasShipped(HttpClient http) throws Exception {
    var mock = new MockSandbox(http);
    mock.ship(1);
    expect(PetstoreClient.Outcome.SHIPPED, clientOf(http, mock).cancel(1));
    expect(1, mock.count("cancelOrder", 409));
    expect(0, mock.count("cancelOrder", 204));
  }

  private static void failsLoudlyDuringAnOutage(HttpClient http) throws Exception {
    var mock = new MockSandbox(http);
    mock.use("outage");
    try {
      clientOf(http, mock).cancel(1);
    } catch (IOException error) {
      expect("The service answered with 503.", error.getMessage());
      return;
    }
    throw new AssertionError("expected an IOException");
  }

  private static PetstoreClient clientOf(HttpClient http, MockSandbox mock) {
    return new PetstoreClient(http, mock.url(), mock.key());
  }

  private static void expect(Object expected, Object actual) {
    if (!expected.equals(actual)) {
      throw new AssertionError("expected " + expected + ", got " + actual);
    }
  }

  /** Trusts the certificate in a file, which {@code exec --tls} names; without one, the usual ones. */
  private static SSLContext trusted(String file) throws Exception {
    if (file == null) return SSLContext.getDefault();
    var trusted = KeyStore.getInstance(KeyStore.getDefaultType());
    trusted.load(null, null);
    try (InputStream pem = Files.newInputStream(Path.of(file))) {
      var certificate = CertificateFactory.getInstance("X.509").generateCertificate(pem);
      trusted.setCertificateEntry("petstore-mock", certificate);
    }
    var managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    managers.init(trusted);
    var context = SSLContext.getInstance("TLS");
    context.init(null, managers.getTrustManagers(), null);
    return context;
  }
}

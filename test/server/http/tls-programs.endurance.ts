import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseJson } from '../../../src/core/json.ts';
import { serverFor } from '../../helpers/deployment.ts';
import { temporaryFolder } from '../../helpers/folder.ts';
import { findProgram, runProgram } from '../../helpers/program.ts';

const folder = temporaryFolder();

const PYTHON = `
import ssl, sys, urllib.request
trust = ssl.create_default_context(cafile=sys.argv[2])
trust.verify_flags |= ssl.VERIFY_X509_STRICT
request = urllib.request.Request(sys.argv[1], headers={"Authorization": "Bearer demo-key"})
print(urllib.request.urlopen(request, context=trust).read().decode())
`;

const NODE = `
const reply = await fetch(process.argv[1], { headers: { Authorization: 'Bearer demo-key' } });
console.log(await reply.text());
`;

const JAVA = `
import java.io.FileInputStream;
import java.net.URI;
import java.net.http.*;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import javax.net.ssl.*;

class Trusting {
  public static void main(String[] args) throws Exception {
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null);
    store.setCertificateEntry("mock",
        CertificateFactory.getInstance("X.509").generateCertificate(new FileInputStream(args[1])));
    TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
    trust.init(store);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    HttpRequest request = HttpRequest.newBuilder(URI.create(args[0]))
        .header("Authorization", "Bearer demo-key").build();
    System.out.println(HttpClient.newBuilder().sslContext(context).build()
        .send(request, HttpResponse.BodyHandlers.ofString()).body());
  }
}
`;

/** Programs that get a URL and trust a certificate. */
const PROGRAMS: Readonly<
  Record<string, (url: string, ca: string) => { args: string[]; env?: Record<string, string> }>
> = {
  curl: (url, ca) => ({
    args: ['--silent', '--cacert', ca, '--header', 'Authorization: Bearer demo-key', url],
  }),
  node: (url, ca) => ({
    args: ['--input-type=module', '--eval', NODE, url],
    env: { NODE_EXTRA_CA_CERTS: ca },
  }),
  python3: (url, ca) => ({ args: ['-c', PYTHON, url, ca] }),
  java: (url, ca) => {
    const source = join(folder, 'Trusting.java');
    writeFileSync(source, JAVA);
    return { args: [source, url, ca] };
  },
};

test.for(Object.keys(PROGRAMS))(
  '%s trusts the certificate that was written, by name and by address',
  async (name, { skip }) => {
    const program = findProgram(name);
    const compiles = name !== 'java' || findProgram('javac') !== undefined;
    if (program === undefined || !compiles) return skip(`This machine has no ${name}.`);
    const ca = join(folder, 'ca.pem');
    const { port } = await serverFor({ tls: true, tlsWrite: ca });
    for (const host of ['127.0.0.1', 'localhost']) {
      const url = `https://${host}:${port}/v1/pets/1`;
      const { args = [], env } = PROGRAMS[name]?.(url, ca) ?? {};
      const { code, output } = await runProgram(program, args, { ...(env && { env }) });
      expect(code, output).toBe(0);
      expect(parseJson(output)).toMatchObject({ id: 1, name: 'Rex' });
    }
  },
);

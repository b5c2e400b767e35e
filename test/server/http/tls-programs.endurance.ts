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
trust = ssl.create_default_context(cafile=sys.argv[1])
trust.verify_flags |= ssl.VERIFY_X509_STRICT
for url in sys.argv[2:]:
    request = urllib.request.Request(url, headers={"Authorization": "Bearer demo-key"})
    print(urllib.request.urlopen(request, context=trust).read().decode())
`;

const NODE = `
for (const url of process.argv.slice(1)) {
  const reply = await fetch(url, { headers: { Authorization: 'Bearer demo-key' } });
  console.log(await reply.text());
}
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
        CertificateFactory.getInstance("X.509").generateCertificate(new FileInputStream(args[0])));
    TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
    trust.init(store);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    HttpClient client = HttpClient.newBuilder().sslContext(context).build();
    for (int index = 1; index < args.length; index += 1) {
      HttpRequest request = HttpRequest.newBuilder(URI.create(args[index]))
          .header("Authorization", "Bearer demo-key").build();
      System.out.println(client.send(request, HttpResponse.BodyHandlers.ofString()).body());
    }
  }
}
`;

/** Programs that print what is at each URL, and trust a certificate. */
const PROGRAMS: Readonly<
  Record<string, (ca: string) => { args: string[]; env?: Record<string, string> }>
> = {
  curl: (ca) => ({
    args: ['--silent', '--cacert', ca, '--header', 'Authorization: Bearer demo-key', '-w', '\n'],
  }),
  node: (ca) => ({
    args: ['--input-type=module', '--eval', NODE],
    env: { NODE_EXTRA_CA_CERTS: ca },
  }),
  python3: (ca) => ({ args: ['-c', PYTHON, ca] }),
  java: (ca) => {
    const source = join(folder, 'Trusting.java');
    writeFileSync(source, JAVA);
    return { args: [source, ca] };
  },
};

test.for(Object.entries(PROGRAMS))(
  '%s trusts the certificate that was written, by name and by address',
  async ([name, trusting], { skip }) => {
    const program = findProgram(name);
    const compiles = name !== 'java' || findProgram('javac') !== undefined;
    if (program === undefined || !compiles) return skip(`This machine has no ${name}.`);
    const ca = join(folder, 'ca.pem');
    const { port } = await serverFor({ tls: true, tlsWrite: ca });
    const urls = ['127.0.0.1', 'localhost'].map((host) => `https://${host}:${port}/v1/pets/1`);
    const { args, env } = trusting(ca);
    const { code, output } = await runProgram(program, [...args, ...urls], { ...(env && { env }) });
    expect(code, output).toBe(0);
    const rex = { id: 1, name: 'Rex' };
    expect(output.trim().split('\n').map(parseJson)).toMatchObject([rex, rex]);
  },
);

// A file of its own in dist/, which is loaded only if a certificate has to be generated.

import 'reflect-metadata';
import { KeyObject } from 'node:crypto';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type JsonGeneralName,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256' };

/** A container's clock can be late, and clients reject a certificate that is not valid yet. */
const CLOCK_SKEW_MS = 60 * 60 * 1000;

/** @param names the names and addresses of the server; the first is the subject */
export async function generateCertificate(
  names: readonly JsonGeneralName[],
): Promise<{ cert: string; key: string }> {
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const now = new Date();
  const nextYear = new Date(now);
  nextYear.setFullYear(now.getFullYear() + 1);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    keys,
    name: `CN=${names[0]?.value},O=petstore-mock`,
    notBefore: new Date(now.getTime() - CLOCK_SKEW_MS),
    notAfter: nextYear,
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
    extensions: [
      new SubjectAlternativeNameExtension([...names]),
      // Not a CA: who trusts this certificate must not trust others that its key signs.
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      // Strict verifiers require both, such as Python 3.13.
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
      await AuthorityKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  const key = KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' });
  return { cert: `${certificate.toString('pem')}\n`, key: String(key) };
}

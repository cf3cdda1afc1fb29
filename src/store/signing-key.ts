import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomUUID,
  sign,
  verify,
} from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rejected } from '../errors.ts';

/** The installation's signing key: Ed25519, in a file of the data directory, outside the store. */
interface Signer {
  /** Identifies the key. */
  keyId: string;
  publicKey: string;
  sign(text: string): string;
}

/** A signed document; the signature covers everything before it. */
export interface Signed {
  signedBy: string;
  publicKey: string;
  signature: string;
}

const FILE = 'signing.key';

/** The first caller makes the key; two that make one at once end up with the same key. */
export function openSigner(dataDir: string): Signer {
  const file = join(dataDir, FILE);
  if (!existsSync(file)) {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    const { privateKey } = generateKeyPairSync('ed25519');
    // Not by process id: in each container the first process is 1, and containers may share the folder.
    const mine = `${file}.${randomUUID()}`;
    writeFileSync(mine, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
    try {
      linkSync(mine, file);
    } catch (error) {
      if (!existsSync(file)) throw error;
    } finally {
      rmSync(mine);
    }
  }
  const key = createPrivateKey(readFileSync(file));
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' }).toString('base64url');
  return {
    keyId: keyIdOf(publicKey),
    publicKey,
    sign: (text) => sign(null, Buffer.from(text), key).toString('base64url'),
  };
}

function keyIdOf(publicKey: string): string {
  return createHash('sha256').update(publicKey).digest('hex').slice(0, 16);
}

export function signed<Document extends object>(signer: Signer, document: Document): Document & Signed {
  const whole = { ...document, signedBy: signer.keyId, publicKey: signer.publicKey };
  return { ...whole, signature: signer.sign(JSON.stringify(whole)) };
}

/**
 * Checks that a document is as it was signed, and by `keyId` if given.
 * @throws ConnectorError SIGNATURE_WRONG
 */
export function assertSigned({ signature, ...document }: Signed, keyId?: string): void {
  const { publicKey, signedBy } = document;
  const isTheirs = signedBy === keyIdOf(publicKey) && (keyId === undefined || keyId === signedBy);
  if (isTheirs && isSignatureOf(JSON.stringify(document), signature, publicKey)) return;
  throw rejected(
    'SIGNATURE_WRONG',
    isTheirs
      ? 'The signature does not fit the document: it was changed since it was signed.'
      : `The document was signed by the key ${signedBy}, which is not the one of this data directory (${keyId}).`,
  );
}

function isSignatureOf(text: string, signature: string, publicKey: string): boolean {
  try {
    const key = createPublicKey({ key: Buffer.from(publicKey, 'base64url'), type: 'spki', format: 'der' });
    return verify(null, Buffer.from(text), key, Buffer.from(signature, 'base64url'));
  } catch {
    return false;
  }
}

import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, truncateSync } from 'node:fs';
import { ConnectorError, rejected } from '../errors.ts';

/** A stored data key: encrypted with the master key of this id. */
export interface Wrapped {
  keyId: string;
  bytes: Buffer;
}

/** Access to the master keys. A file today; a key service, which never reveals its keys, would fit as well. */
export interface MasterKeys {
  /** The id of the key that wraps from now on. */
  currentId(): string;
  wrap(dataKey: KeyObject, about: string): Promise<Wrapped>;
  /** `about`: the same text as when it was wrapped. @throws ConnectorError KEY_MISSING */
  unwrap(wrapped: Wrapped, about: string): Promise<KeyObject>;
}

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
/** A line of the file: the key's id, and its bytes in base64. */
const LINE = /^([a-z0-9][a-z0-9-]{0,31})\s+([A-Za-z0-9+/]{43}=)$/;
/** The file is checked again after this long, so that a new key needs no restart. */
const FRESH_MS = 1_000;

export function newKey(): KeyObject {
  return createSecretKey(randomBytes(KEY_BYTES));
}

/**
 * AES-256-GCM: initialisation vector, tag, ciphertext. `about` must be the same for opening. Takes a KeyObject, because
 * Node needs ten times as long to begin with plain bytes (24.21: 3 us and 30).
 */
export function seal(key: KeyObject, plain: Uint8Array, about: string): Buffer {
  const iv = newIv();
  const cipher = createCipheriv(CIPHER, key, iv).setAAD(Buffer.from(about));
  const sealed = cipher.update(plain);
  cipher.final();
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]);
}

/** Takes vectors from many random bytes generated at once: generating 12 bytes takes a third of the time of sealing. */
function newIv(): Buffer {
  if (ivs.length === 0) ivs = randomBytes(IV_BYTES * 256);
  const iv = ivs.subarray(0, IV_BYTES);
  ivs = ivs.subarray(IV_BYTES);
  return iv;
}

let ivs = Buffer.alloc(0);

/** @throws ConnectorError SEAL_BROKEN if it was changed, belongs to another key, or was moved */
export function unseal(key: KeyObject, sealed: Uint8Array, about: string): Buffer {
  try {
    const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(about)).setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    return Buffer.concat([decipher.update(sealed.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]);
  } catch (cause) {
    throw sealBroken(about, cause);
  }
}

/** The error for an encrypted value that was changed or moved. */
export function sealBroken(about: string, cause?: unknown): ConnectorError {
  return rejected(
    'SEAL_BROKEN',
    `An encrypted value (${about}) cannot be opened: it was changed or moved without hirebridge. Find out who ` +
      'wrote to the database, and put the row back from a backup.',
    { cause },
  );
}

/**
 * The keys in a file (`file:` reference), one on each line: its id and 32 bytes in base64. The first encrypts, all of
 * them decrypt. Undefined if nothing is to be encrypted.
 * @throws ConnectorError KEYS_INVALID
 */
export function openKeys(ref: string | undefined): MasterKeys | undefined {
  if (ref === undefined) return undefined;
  const file = fileOf(ref);
  let keys = readKeys(file);
  let readAt = Date.now();
  const reread = (): void => {
    readAt = Date.now();
    try {
      keys = readKeys(file);
    } catch {
      // The file is half written or missing for a moment: keep the keys already read; the next start reports the fault.
    }
  };
  const currentId = (): string => {
    if (Math.abs(Date.now() - readAt) > FRESH_MS) reread();
    return keys.keys().next().value as string;
  };
  return {
    currentId,
    async wrap(dataKey, about) {
      const keyId = currentId();
      return { keyId, bytes: seal(keys.get(keyId) as KeyObject, dataKey.export(), wrapping(keyId, about)) };
    },
    async unwrap({ keyId, bytes }, about) {
      if (!keys.has(keyId)) reread();
      const key = keys.get(keyId);
      if (key === undefined) throw keyMissing(keyId, `has no key of that name: put its line back into ${file}`);
      try {
        return createSecretKey(unseal(key, bytes, wrapping(keyId, about)));
      } catch {
        throw keyMissing(keyId, `has another key of that name: put the right line back into ${file}`);
      }
    },
  };
}

/** The same, for parts that need keys. @throws ConnectorError KEYS_INVALID */
export function requireKeys(ref: string | undefined): MasterKeys {
  const keys = openKeys(ref);
  if (keys === undefined) throw invalid('is not set, and nothing is encrypted: set it to file:PATH');
  return keys;
}

/** The error for a value whose key this process lacks; `but` says what is wrong with HIREBRIDGE_KEYS. */
export function keyMissing(keyId: string, but = 'is not set: name the file that has it'): ConnectorError {
  return new ConnectorError({
    code: 'KEY_MISSING',
    action: 'retry',
    message: `This was encrypted with key ${keyId}, and HIREBRIDGE_KEYS ${but}. Until then it cannot be read.`,
  });
}

/** Appends a key to the file, and creates the file if necessary. */
export function addKey(ref: string | undefined, day: string): { file: string; keyId: string; isFirst: boolean } {
  const file = fileOf(ref ?? '');
  const before = existsSync(file) ? textOf(file) : '';
  const isFirst = keysIn(before, file).size === 0;
  const keyId = `${day}-${randomBytes(2).toString('hex')}`;
  const line = `${keyId} ${randomBytes(KEY_BYTES).toString('base64')}\n`;
  const isOpen = before !== '' && !before.endsWith('\n');
  try {
    appendFileSync(file, isOpen ? `\n${line}` : line, { mode: 0o600, flush: true });
  } catch (error) {
    // A full disk may have taken a part of the line, and no process starts with such a file.
    if (existsSync(file)) truncateSync(file, Buffer.byteLength(before));
    throw error;
  }
  return { file, keyId, isFirst };
}

function fileOf(ref: string): string {
  const [, file] = /^file:(.+)$/s.exec(ref) ?? [];
  if (file === undefined) throw invalid('must be file:PATH, a file of keys');
  return file;
}

function wrapping(keyId: string, about: string): string {
  return `hirebridge data key, ${keyId}, ${about}`;
}

function readKeys(file: string): Map<string, KeyObject> {
  const keys = keysIn(textOf(file), file);
  if (keys.size === 0) throw invalid(`has no key in ${file}; make one with: hirebridge keys new`);
  return keys;
}

function keysIn(text: string, file: string): Map<string, KeyObject> {
  const keys = new Map<string, KeyObject>();
  for (const [index, line] of text.split('\n').entries()) {
    if (/^\s*(?:#.*)?$/.test(line)) continue;
    const [, id = '', key = ''] = LINE.exec(line.trim()) ?? [];
    if (id === '') throw invalid(`has no key in ${file}:${index + 1}; a line is an id, a space, 32 bytes in base64`);
    if (keys.has(id)) throw invalid(`has two keys ${id}, the second in ${file}:${index + 1}; give it another id`);
    keys.set(id, createSecretKey(key, 'base64'));
  }
  return keys;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const why = (cause as NodeJS.ErrnoException).code ?? 'error';
    throw invalid(`names ${file}, which cannot be read (${why}); make it with: hirebridge keys new`, cause);
  }
}

function invalid(why: string, cause?: unknown): ConnectorError {
  return rejected('KEYS_INVALID', `HIREBRIDGE_KEYS ${why}.`, { cause });
}

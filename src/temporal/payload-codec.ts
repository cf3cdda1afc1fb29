import type { KeyObject } from 'node:crypto';
import { createRequire } from 'node:module';
import type { Payload, PayloadCodec } from '@temporalio/common';
import type * as Proto from '@temporalio/proto';
import { keyMissing, type MasterKeys, newKey, seal, unseal, type Wrapped } from '../vault/keys.ts';

/** A CommonJS module whose names Node's `import` does not find. */
const { temporal } = createRequire(import.meta.url)('@temporalio/proto') as typeof Proto;
const PayloadBytes = temporal.api.common.v1.Payload;

/** Marks an encrypted payload for Temporal's tools. */
const ENCRYPTED = Buffer.from('binary/encrypted');
const KEY_ID = 'encryption-key-id';
const DATA_KEY = 'encryption-data-key';
const ABOUT = 'temporal payload';
/** Data keys of other processes kept in memory; each process makes one at its start. */
const REMEMBERED = 1_000;

/**
 * Encrypts payloads for Temporal and decrypts those from it. Each process has its own data key; a payload carries it,
 * wrapped by the master key. Unencrypted payloads pass unchanged, so that histories may mix both. Without keys nothing
 * is encrypted, and encrypted payloads are refused.
 */
export function payloadCodec(keys: MasterKeys | undefined): PayloadCodec {
  if (keys === undefined)
    return {
      encode: async (payloads) => payloads,
      decode: async (payloads) => {
        const sealed = payloads.find(isEncrypted);
        if (sealed !== undefined) throw keyMissing(textOf(sealed, KEY_ID));
        return payloads;
      },
    };
  const known = new Map<string, Promise<KeyObject>>();
  let own: { key: KeyObject; wrapped: Promise<Wrapped>; keyId: string } | undefined;
  const ownKey = async () => {
    const keyId = keys.currentId();
    if (own?.keyId !== keyId) {
      const key = newKey();
      own = { key, wrapped: keys.wrap(key, ABOUT), keyId };
    }
    const { key, wrapped } = own;
    return { key, wrapped: await wrapped };
  };
  const keyOf = (wrapped: Wrapped): Promise<KeyObject> => {
    const name = wrapped.bytes.toString('base64');
    let key = known.get(name);
    if (key === undefined) {
      key = keys.unwrap(wrapped, ABOUT);
      key.catch(() => known.delete(name));
      if (known.size >= REMEMBERED) known.delete(known.keys().next().value as string);
      known.set(name, key);
    }
    return key;
  };
  const open = async (payload: Payload): Promise<Payload> => {
    const wrapped = { keyId: textOf(payload, KEY_ID), bytes: Buffer.from(payload.metadata?.[DATA_KEY] ?? []) };
    const plain = unseal(await keyOf(wrapped), payload.data ?? Buffer.alloc(0), ABOUT);
    // Uses plain byte views: views of a Buffer would be Buffers, which no other converter accepts.
    const { metadata, data } = PayloadBytes.decode(new Uint8Array(plain));
    return { metadata, data };
  };
  return {
    async encode(payloads) {
      if (payloads.length === 0) return payloads;
      const { key, wrapped } = await ownKey();
      const metadata = { encoding: ENCRYPTED, [KEY_ID]: Buffer.from(wrapped.keyId), [DATA_KEY]: wrapped.bytes };
      return payloads.map((one) => ({ metadata, data: seal(key, PayloadBytes.encode(one).finish(), ABOUT) }));
    },
    decode: (payloads) => Promise.all(payloads.map(async (one) => (isEncrypted(one) ? open(one) : one))),
  };
}

export function isEncrypted({ metadata }: Payload): boolean {
  return ENCRYPTED.equals(metadata?.['encoding'] ?? Buffer.alloc(0));
}

function textOf({ metadata }: Payload, name: string): string {
  return Buffer.from(metadata?.[name] ?? []).toString();
}

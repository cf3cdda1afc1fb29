import type { KeyObject } from 'node:crypto';
import { createRequire } from 'node:module';
import { setTimeout as pause } from 'node:timers/promises';
import {
  Client,
  type Connection,
  type WorkflowClientInterceptor,
  type WorkflowSignalWithStartOptions,
} from '@temporalio/client';
import { type Payload, type PayloadCodec, WorkflowNotFoundError } from '@temporalio/common';
import type * as Proto from '@temporalio/proto';
import { hintSignal } from '../../workflows/messages.ts';
import type { Config } from '../config.ts';
import type { HintAbout, HireInput, HireTiming, SignalHire } from '../hire/hire.ts';
import type { TemporalTelemetry } from '../telemetry/telemetry.ts';
import { keyMissing, type MasterKeys, newKey, openKeys, seal, unseal, type Wrapped } from '../vault/keys.ts';
import type { TemporalConnection } from './connection.ts';
import { attributes, hireWorkflowId, taskQueue } from './ids.ts';

/** Gives workers and single commands access to this installation's workflows. */
export interface HireClient {
  client: Client;
  installationId: string;
  timing: HireTiming;
}

type HireStart = Omit<HireInput, 'carried'>;

export function createHireClient(
  { connection, namespace }: TemporalConnection,
  installationId: string,
  config: Config,
  telemetry?: TemporalTelemetry,
): HireClient {
  // The default identity contains the machine's name, which histories would keep.
  const identity = `${installationId}@${process.pid}`;
  const own = telemetry === undefined ? [] : [telemetry.client];
  const interceptors = { workflow: [...own, signalDeadline(connection)] };
  const dataConverter = { payloadCodecs: [payloadCodec(openKeys(config.HIREBRIDGE_KEYS))] };
  const client = new Client({ connection, namespace, identity, dataConverter, interceptors });
  return { client, installationId, timing: timingOf(config) };
}

const SIGNAL_MS = 10_000;

/** gRPC waits for ever for a server that hangs. Whoever signals tries again, because a repeated signal is harmless. */
function signalDeadline(connection: Connection): WorkflowClientInterceptor {
  const inTime = <Result>(call: () => Promise<Result>) => connection.withDeadline(Date.now() + SIGNAL_MS, call);
  return {
    signal: (input, next) => inTime(() => next(input)),
    signalWithStart: (input, next) => inTime(() => next(input)),
  };
}

function timingOf(config: Config): HireTiming {
  return {
    heartbeatMs: config.HIREBRIDGE_HEARTBEAT_MS,
    attemptMs: config.HIREBRIDGE_GIVE_UP_MS * 2 + 60_000,
    retryMs: config.HIREBRIDGE_RETRY_MS,
  };
}

/**
 * Sends one hint to a hire. With `start`, a workflow starts if none runs; without it, `false` means that none runs.
 * Harmless when repeated: the workflow reads the facts from the store.
 */
export async function signalHire(
  { client, installationId, timing }: HireClient,
  ...[hire, about, options]: Parameters<SignalHire>
): Promise<boolean> {
  if (options.start) {
    const { adopt = false, watch = false, behind } = options;
    // A run that is about to end learns of `adopt` only through the signal.
    const told = adopt ? 'adopt' : about;
    await client.workflow.signalWithStart(
      'hire',
      hireStartOptions(installationId, { ...hire, timing, adopt, watch, ...(behind && { behind }) }, told),
    );
    return true;
  }
  const handle = client.workflow.getHandle(hireWorkflowId(installationId, hire.tenantId, hire.jobCandidateId));
  try {
    await handle.signal(hintSignal, about);
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

/** Starts by one process: more than any day brings, fewer than an outage leaves behind. */
const STARTS = { aSecond: 50, atOnce: 100 } as const;

/** Options to reach a hire's workflow: a running one gets the signal, otherwise one starts with it. */
export function hireStartOptions(
  installationId: string,
  hire: HireStart,
  about: HintAbout,
): WorkflowSignalWithStartOptions<[HintAbout]> & { args: [HireInput] } {
  const { tenantId, jobCandidateId } = hire;
  return {
    workflowId: hireWorkflowId(installationId, tenantId, jobCandidateId),
    taskQueue: taskQueue(installationId),
    args: [hire],
    signal: hintSignal,
    signalArgs: [about],
    typedSearchAttributes: attributes(tenantId, 'hire'),
    // Tenants share the workers fairly, and hires come before reconciles.
    priority: { priorityKey: 2, fairnessKey: tenantId },
  };
}

/**
 * Spreads starts over time: the hires that waited through an outage of Temporal, or that an emptied one lost, would
 * otherwise all start in the same second. Starts take their turns in the order requested; signals that start nothing do
 * not wait.
 */
export function paceStarts(
  signal: SignalHire,
  { aSecond, atOnce }: { aSecond: number; atOnce: number } = STARTS,
  now = () => performance.now(),
): SignalHire {
  const apartMs = 1_000 / aSecond;
  let turn = Number.NEGATIVE_INFINITY;
  return async (hire, about, options) => {
    if (!options.start) return signal(hire, about, options);
    turn = Math.max(turn + apartMs, now() - (atOnce - 1) * apartMs);
    const waitMs = turn - now();
    if (waitMs > 0) await pause(waitMs);
    return signal(hire, about, options);
  };
}

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

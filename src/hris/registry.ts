import { ConnectorError, isConnectorError, rejected } from '../errors.ts';
import { type HrisLimits, noLimits } from './http-line.ts';
import * as list from './index.ts';
import type { FieldsInUse, HrisAdapter, HrisConnection, Landings } from './port.ts';

type Call = (...args: unknown[]) => Promise<unknown>;

/** The methods of each part. One in brackets need not return anything. */
const METHODS = {
  employees: 'find isTaken create (read) (update) (amend) (rehire) (terminate)',
  changes: 'since news',
  files: 'deliver holds (probe)',
  pending: 'resolve',
  requisitions: 'listOpen read (update) (amend)',
  resumes: 'list read',
  lists: 'read',
  landing: 'land read hashes ids marks (remove)',
};

/** How long an adapter may take to report the outcome of a call that its caller stopped. */
const LAST_WORD_MS = 5_000;

const adapters: Readonly<Record<string, HrisAdapter>> = list;

/** The kinds of HRIS in this build. */
export function hrisKinds(): string[] {
  return Object.keys(adapters);
}

/** The adapter of a kind, or the one that its options describe; undefined if there is none. */
export function findHrisAdapter(
  kind: string,
  options: Readonly<Record<string, unknown>> = {},
): HrisAdapter | undefined {
  const known = Object.hasOwn(adapters, kind) ? adapters[kind] : undefined;
  return known?.definedBy?.(options) ?? known;
}

interface Surroundings {
  landings?: Landings;
  limits?: HrisLimits;
  inUse?: FieldsInUse;
  /** The tenant's day. */
  today?: () => string;
}

/** Checks the options and opens a connection. Bad options cause a ConnectorError without their values. */
export async function openHris(
  kind: string,
  connectionName: string,
  options: Record<string, unknown>,
  { landings = {}, limits = noLimits, inUse, today }: Surroundings = {},
): Promise<HrisConnection> {
  const adapter = findHrisAdapter(kind, options);
  if (adapter === undefined)
    throw rejected('HRIS_KIND_UNKNOWN', `There is no HRIS kind "${kind}". Known: ${hrisKinds().join(', ')}.`);
  const parsed = adapter.optionsSchema(landings).safeParse(options);
  if (!parsed.success) {
    const issues = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'options'}: ${issue.message}`);
    throw rejected(
      'HRIS_OPTIONS_INVALID',
      `The options of HRIS connection "${connectionName}" are invalid: ${issues.join('; ')}.`,
    );
  }
  const hris = holdToPort(kind, await adapter.open(parsed.data, limits, inUse, today));
  const employeeUrl = adapter.employeeUrl?.(parsed.data);
  return { ...hris, capabilities: { ...hris.capabilities, ...(employeeUrl && { employeeUrl }) } };
}

/**
 * Enforces the port's error rules on any adapter: if it throws another error, returns nothing where an answer is due,
 * or continues after its caller stopped, the call ends with a ConnectorError. The outcome is `unknown` only if the
 * request may have left.
 */
export function holdToPort(kind: string, hris: HrisConnection): HrisConnection {
  const parts = Object.entries(METHODS).flatMap(([name, methods]) => {
    const part = hris[name as keyof typeof METHODS] as object | undefined;
    return part === undefined ? [] : [[name, heldPart(`${kind}: ${name}.`, part, methods)]];
  });
  return {
    capabilities: hris.capabilities,
    close: () => hris.close(),
    ...heldPart(`${kind}: `, hris, 'probe describe givesNumber'),
    ...(Object.fromEntries(parts) as object),
  } as HrisConnection;
}

/** Calls members on the part itself, which may be a class instance. */
function heldPart(what: string, part: object, methods: string): object {
  const members = methods.split(' ').flatMap((method) => {
    const name = method.replace(/^\((.*)\)$/, '$1');
    const call = (part as Record<string, Call | undefined>)[name];
    return call === undefined ? [] : [[name, held(`${what}${name}`, call.bind(part), name === method)]];
  });
  return Object.fromEntries(members) as object;
}

/** The state of one call. */
interface Progress {
  what: string;
  sent: boolean;
  /** The call has ended: what it did not wait for must not leave any more. */
  over: boolean;
  /** Thrown by `beforeSend`, and passed on unchanged. */
  forbidden?: unknown;
}

function held(what: string, call: Call, mustAnswer: boolean): Call {
  return async (...args) => {
    const progress: Progress = { what, sent: false, over: false };
    const signal = args.map(signalIn).find((one) => one !== undefined);
    try {
      const given = await untilStopped(call(...args.map((arg) => watched(arg, progress))), signal, progress);
      if (given === undefined && mustAnswer) throw fault(progress, 'gave no answer');
      return given;
    } catch (error) {
      if (isConnectorError(error) || (error !== undefined && error === progress.forbidden)) throw error;
      throw fault(progress, `threw ${nameOf(error)}`, error);
    } finally {
      progress.over = true;
    }
  };
}

function signalIn(arg: unknown): AbortSignal | undefined {
  if (arg instanceof AbortSignal) return arg;
  const { signal } = (arg ?? {}) as { signal?: unknown };
  return signal instanceof AbortSignal ? signal : undefined;
}

/** Wraps a write's options to notice when it leaves. */
function watched(arg: unknown, progress: Progress): unknown {
  const { beforeSend } = (arg ?? {}) as { beforeSend?: unknown };
  if (typeof beforeSend !== 'function') return arg;
  const watchedSend = (): void => {
    if (progress.over) throw fault(progress, 'would send after it had ended');
    try {
      (beforeSend as () => void)();
    } catch (error) {
      progress.forbidden = error;
      throw error;
    }
    progress.sent = true;
  };
  return { ...(arg as object), beforeSend: watchedSend };
}

async function untilStopped(
  answer: Promise<unknown>,
  signal: AbortSignal | undefined,
  progress: Progress,
): Promise<unknown> {
  const { promise: silence, reject } = Promise.withResolvers<never>();
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => {
    timer = setTimeout(() => reject(fault(progress, 'went on after it was stopped')), LAST_WORD_MS);
  };
  if (signal?.aborted === true) stop();
  else signal?.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([answer, silence]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}

/** Class and code of an error: the text of unknown errors may quote a record. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return `a ${typeof error}`;
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? `${error.name} ${code}` : error.name;
}

function fault({ what, sent }: Progress, how: string, cause?: unknown): ConnectorError {
  const next = sent
    ? 'The request may have arrived, so it is looked up before anything is sent again.'
    : 'Nothing was sent, and it is tried again.';
  return new ConnectorError({
    code: 'HRIS_ADAPTER_FAULT',
    action: sent ? 'unknown' : 'retry',
    message:
      `The adapter failed (${what} ${how}); it should give an answer or throw a ConnectorError. ${next} See the ` +
      "worker's log, and fix the adapter.",
    cause: cause === undefined ? undefined : withoutWords(cause),
  });
}

/** Keeps an error's stack without its text, which may quote a record: causes are logged. */
function withoutWords(error: unknown): Error {
  const bare = new Error(nameOf(error));
  const frames = error instanceof Error ? (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line)) : [];
  bare.stack = [`Error: ${bare.message}`, ...frames].join('\n');
  return bare;
}

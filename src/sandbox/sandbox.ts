import { readFileSync } from 'node:fs';
import { Agent, request } from 'undici';
import { runDueTasks } from './background.ts';
import { startControlServer } from './control/server.ts';
import { type FaultPlan, FaultPlan as FaultPlanSchema } from './faults.ts';
import { BASE_PATH } from './handle.ts';
import { createSandboxState, refusedOption } from './prepare.ts';
import { parseQuirks, type Quirk, quirkNames } from './quirks.ts';
import { parseRateLimit, type RateLimit } from './rate-limit.ts';
import { companyById } from './records/companies.ts';
import {
  type Delivery,
  type DeliveryOutcome,
  nextDeliveryAt,
  reviveDeliveries,
  settleDelivery,
  takeDueDeliveries,
} from './records/deliveries.ts';
import { nextTaskAt } from './records/tasks.ts';
import { type RequestLog, startApiServer } from './server.ts';
import type { SandboxState } from './state.ts';

export interface SandboxOptions {
  /** Port of the partner API; 0, the default, takes a free one. */
  port?: number | undefined;
  /** Port of the control plane and its page; 0, the default, takes a free one. */
  controlPort?: number | undefined;
  /** `sk_test_` and 22 base62 characters; by default derived from the seed. */
  key?: string | undefined;
  /** Key of a second company in the same process; none by default. */
  otherKey?: string | undefined;
  /** All generated data follows from it. */
  seed?: number | undefined;
  /** How many jobs there are at the start. */
  jobs?: number | undefined;
  /** How many candidates there are at the start. */
  candidates?: number | undefined;
  /** How many people were hired before the start. */
  hired?: number | undefined;
  webhookUrl?: string | undefined;
  webhookKey?: string | undefined;
  /** SQLite file that keeps the state across restarts; in memory by default. */
  state?: string | undefined;
  /**
   * For each company: `fixed:RATE` or `sliding:RATE` (RATE x 10 calls in 10 s), `token:RATE[:BURST]` (RATE a second),
   * `concurrency:CALLS` (calls under way at once).
   */
  limit?: string | undefined;
  /** A plan of faults, or the path of a JSON file with one. */
  faults?: string | FaultPlan | undefined;
  /** `all`, or a comma list of the names in quirks.ts. */
  quirks?: string | undefined;
  clock?: 'real' | 'stepped' | undefined;
  onRequest?: ((entry: RequestLog) => void) | undefined;
  onDelivery?: ((entry: DeliveryLog) => void) | undefined;
  /** An error inside the sandbox itself: always a bug. */
  onDefect?: ((where: string, error: unknown) => void) | undefined;
}

export interface Sandbox {
  /** Base URL of the API, ends in /v1/partner. */
  url: string;
  controlUrl: string;
  key: string;
  companyId: number;
  otherKey: string | undefined;
  otherCompanyId: number | undefined;
  close(): Promise<void>;
}

/**
 * Starts the partner API and its control plane, both on 127.0.0.1.
 * @throws ConnectorError INVALID_OPTION or INVALID_KEY_FORMAT, whose message names the option and its valid form
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const limit = readLimit(options.limit);
  const plan = readFaults(options.faults);
  const quirks = readQuirks(options.quirks);
  const { state, ...companies } = createSandboxState({ ...options, file: options.state });
  state.onDefect = options.onDefect ?? reportDefect;
  if (plan !== undefined) state.faults.set(plan);
  state.quirks.set(quirks);
  state.limit = options.limit;
  const api = await startApiServer(state, { port: options.port ?? 0, limit, onRequest: options.onRequest });
  state.publicUrl = `http://127.0.0.1:${String(api.port)}`;
  const control = await startControlServer(state, options.controlPort ?? 0);
  const pump = startPump(state, options.onDelivery);
  const closed = once(async () => {
    await Promise.all([api.close(), control.close(), pump.stop()]);
    state.close();
  });
  return {
    url: `http://127.0.0.1:${String(api.port)}${BASE_PATH}`,
    controlUrl: `http://127.0.0.1:${String(control.port)}`,
    ...companies,
    close: closed,
  };
}

function once(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => (running ??= work());
}

function readLimit(text: string | undefined): RateLimit | undefined {
  if (text === undefined) return undefined;
  const limit = parseRateLimit(text);
  if (limit !== undefined) return limit;
  throw refusedOption(
    '--limit',
    'must be fixed:RATE, sliding:RATE, concurrency:CALLS or token:RATE[:BURST], for example token:10:20',
  );
}

function readQuirks(text: string | undefined): readonly Quirk[] {
  if (text === undefined) return [];
  const read = parseQuirks(text);
  if ('quirks' in read) return read.quirks;
  throw refusedOption('--quirks', `${read.unknown} is not a quirk; choose from all, ${quirkNames.join(', ')}`);
}

function readFaults(given: string | FaultPlan | undefined): FaultPlan | undefined {
  if (typeof given !== 'string') return given;
  const result = FaultPlanSchema.safeParse(parseFile(given));
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw refusedOption(
    '--faults',
    `${given} is not a valid fault plan: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`,
  );
}

function parseFile(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw refusedOption('--faults', `${path} cannot be read as JSON: ${error instanceof Error ? error.message : ''}`);
  }
}

function reportDefect(where: string, error: unknown): void {
  process.stderr.write(
    `sandbox: ${where} failed: ${error instanceof Error ? (error.stack ?? error.message) : 'unknown'}\n`,
  );
}

/** An attempt fails if the receiver takes longer. */
const ATTEMPT_TIMEOUT_MS = 10_000;
const MAX_IN_FLIGHT = 64;

interface DeliveryLog {
  event: string;
  companyId: number;
  attempt: number;
  outcome: 'delivered' | 'waiting' | 'dropped';
  status?: number | undefined;
}

/** Runs background tasks and sends webhooks when they are due by the sandbox's clock. */
function startPump(state: SandboxState, onDelivery?: (entry: DeliveryLog) => void): { stop: () => Promise<void> } {
  const agent = new Agent({ connections: MAX_IN_FLIGHT, keepAliveTimeout: 4000 });
  const inFlight = new Set<Promise<void>>();
  let cancelTimer: (() => void) | undefined;
  let stopped = false;
  const wake = onceSoon(turn);

  function turn(): void {
    if (stopped) return;
    cancelTimer?.();
    runDueTasks(state);
    for (const delivery of takeDueDeliveries(state, MAX_IN_FLIGHT - inFlight.size)) {
      const sending = attempt(delivery).finally(() => {
        inFlight.delete(sending);
        wake();
      });
      inFlight.add(sending);
    }
    const next = nextDue(state, inFlight.size < MAX_IN_FLIGHT);
    cancelTimer = next === Infinity ? undefined : state.clock.at(next, wake);
  }

  async function attempt(delivery: Delivery): Promise<void> {
    const outcome = await sendDelivery(state, agent, delivery);
    // Stays marked as under way, so that the next start with this state repeats the attempt.
    if (stopped) return;
    const entry = settled(state, delivery, outcome);
    onDelivery?.(entry);
  }

  reviveDeliveries(state);
  state.onEvents = wake;
  wake();
  return {
    async stop() {
      stopped = true;
      state.onEvents = undefined;
      cancelTimer?.();
      await agent.destroy();
      await Promise.all(inFlight);
    },
  };
}

/** Runs once for several requests, and only after the call that caused it has been answered (E11). */
function onceSoon(run: () => void): () => void {
  let planned = false;
  return () => {
    if (planned) return;
    planned = true;
    setImmediate(() => {
      planned = false;
      run();
    });
  };
}

/** Time of the pump's next work. */
function nextDue(state: SandboxState, hasRoom: boolean): number {
  return Math.min(nextTaskAt(state) ?? Infinity, (hasRoom ? nextDeliveryAt(state) : undefined) ?? Infinity);
}

function settled(state: SandboxState, delivery: Delivery, given: DeliveryOutcome): DeliveryLog {
  const { event, companyId } = delivery;
  const outcome = settleDelivery(state, delivery, given);
  return { event, companyId, attempt: delivery.attempt + 1, outcome, status: given.status };
}

const ANSWER_CHARS = 2000;

/** The part of the receiver's answer that the page shows; the pump does not wait for the rest. */
async function beginningOf(body: AsyncIterable<Buffer>): Promise<string> {
  let text = '';
  for await (const chunk of body) {
    text += chunk.toString('utf8');
    if (text.length >= ANSWER_CHARS) return text.slice(0, ANSWER_CHARS);
  }
  return text;
}

/** One POST as section 6 describes it, to the company's current URL with its current key. */
async function sendDelivery(state: SandboxState, agent: Agent, delivery: Delivery): Promise<DeliveryOutcome> {
  const company = companyById(state, delivery.companyId);
  if (company === undefined || company.webhookUrl === null) return { error: 'NO_URL' };
  try {
    const { statusCode, body } = await request(company.webhookUrl, {
      method: 'POST',
      dispatcher: agent,
      headersTimeout: ATTEMPT_TIMEOUT_MS,
      bodyTimeout: ATTEMPT_TIMEOUT_MS,
      headers: {
        'content-type': 'application/json',
        'x-webhook-event': delivery.event,
        'x-webhook-timestamp': delivery.stamp,
        'x-webhook-key': company.webhookKey ?? '',
      },
      body: delivery.body,
    });
    return { status: statusCode, answer: await beginningOf(body) };
  } catch (error) {
    return { error: error instanceof Error && 'code' in error ? String(error.code) : 'FAILED' };
  }
}

import { readFileSync } from 'node:fs';
import { startControlServer } from './control/server.ts';
import { type FaultPlan, FaultPlan as FaultPlanSchema } from './faults.ts';
import { createSandboxState, refusedOption } from './prepare.ts';
import { type DeliveryLog, startPump } from './pump.ts';
import { parseQuirks, type Quirk, quirkNames } from './quirks.ts';
import { parseRateLimit, type RateLimit } from './rate-limit.ts';
import { BASE_PATH } from './router.ts';
import { type RequestLog, startApiServer } from './server.ts';

export interface SandboxOptions {
  /** 0 or nothing takes a free port. */
  port?: number | undefined;
  controlPort?: number | undefined;
  /** `sk_test_` and 22 base62 characters; made up from the seed when absent. */
  key?: string | undefined;
  /** A second company in the same process. */
  otherKey?: string | undefined;
  seed?: number | undefined;
  jobs?: number | undefined;
  candidates?: number | undefined;
  /** People hired before anyone was watching. */
  hired?: number | undefined;
  webhookUrl?: string | undefined;
  webhookKey?: string | undefined;
  /** File that keeps the state across restarts. */
  state?: string | undefined;
  /**
   * For each company: `fixed:RATE` or `sliding:RATE` (RATE x 10 calls in 10 s), `token:RATE[:BURST]` (RATE a second),
   * `concurrency:CALLS` (calls under way at once).
   */
  limit?: string | undefined;
  /** A plan, or the JSON file it stands in. */
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

/** Starts the partner API and its control plane. */
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
    'must be fixed:RATE, sliding:RATE, concurrency:CALLS, or with a burst token:RATE:BURST; write it like token:10:20',
  );
}

function readQuirks(text: string | undefined): readonly Quirk[] {
  if (text === undefined) return [];
  const read = parseQuirks(text);
  if ('quirks' in read) return read.quirks;
  throw refusedOption('--quirks', `${read.unknown} is not a quirk; there are all, ${quirkNames.join(', ')}`);
}

function readFaults(given: string | FaultPlan | undefined): FaultPlan | undefined {
  if (typeof given !== 'string') return given;
  const result = FaultPlanSchema.safeParse(parseFile(given));
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw refusedOption(
    '--faults',
    `${given} is no plan of faults: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`,
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

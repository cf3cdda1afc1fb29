import type { Places } from '../../config.ts';
import { ConnectorError, isConnectorError } from '../../errors.ts';
import { findTenant } from '../../operator/open-tenant.ts';
import type { OperatorParts } from '../../operator/operator-parts.ts';
import { assertKnownStream } from '../../operator/streams/assert-known-stream.ts';
import {
  followStream,
  type StreamLook,
  type StreamRequest,
  type StreamResult,
} from '../../operator/streams/follow-stream.ts';
import { type StreamName, streamNames } from '../../streams/streams.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { exitCodeOf, printError } from '../print-error.ts';
import { printJson } from '../print-json.ts';
import { renderTable } from '../table.ts';
import { withClient } from '../with-client.ts';
import { createProgress } from './progress.ts';

export interface SyncOptions extends Places, Omit<StreamRequest, 'stream'> {
  /** As it was typed; every stream that runs by itself where absent. */
  stream: string | undefined;
  json: boolean;
}

/** At most so many of what was left out are listed. */
const MOST_LISTED = 20;

/** Starts a run, or one of each stream, shows how far it is, and prints its counts. */
export async function followSync(options: SyncOptions): Promise<ExitCode> {
  const { stream } = options;
  if (stream !== undefined) assertKnownStream(stream);
  return withClient(options, async (parts) => {
    if (stream !== undefined) return followOne(parts, options, stream);
    const codes: ExitCode[] = [];
    for (const name of await ownStreams(parts, options)) codes.push(await followNext(parts, options, name));
    return [EXIT.error, EXIT.refused, EXIT.partial].find((code) => codes.includes(code)) ?? EXIT.done;
  });
}

/** One stream's refusal is no reason to leave out the others. */
async function followNext(parts: OperatorParts, options: SyncOptions, stream: StreamName): Promise<ExitCode> {
  try {
    return await followOne(parts, options, stream);
  } catch (error) {
    if (!isConnectorError(error)) throw error;
    if (options.json) printJson({ stream, state: 'refused', code: error.code, message: error.message });
    else printError(error);
    return exitCodeOf(error);
  }
}

async function followOne(parts: OperatorParts, options: SyncOptions, stream: StreamName): Promise<ExitCode> {
  const progress = createProgress(`${options.tenantId} ${stream}`);
  const result = await followStream(parts, { ...options, stream }, createWatcher(progress)).finally(progress.stop);
  const named = options.stream === undefined ? { stream } : {};
  if (options.json) printJson({ ...named, state: result.state, ...result.counts, leftOut: result.leftOut });
  else process.stdout.write(`${options.stream === undefined ? `${stream} ` : ''}${describe(result)}`);
  return result.state === 'partial' ? EXIT.partial : EXIT.done;
}

async function ownStreams({ store }: OperatorParts, { tenantId, tenantsDir }: SyncOptions): Promise<StreamName[]> {
  const { streams } = await findTenant(store, tenantsDir, tenantId);
  const own = streamNames.filter((name) => streams[name].every !== undefined);
  if (own.length > 0) return own;
  throw new ConnectorError({
    code: 'NO_STREAMS',
    action: 'reject',
    message:
      `No stream of ${tenantId} runs by itself. Name one of ${streamNames.join(', ')}, ` +
      'or say in the tenant file how often it should run: streams: { jobs: { every: 1h } }',
  });
}

/** Shows each look, and says once why nothing happens. */
function createWatcher(progress: ReturnType<typeof createProgress>): (look: StreamLook) => void {
  let warned = false;
  return ({ row, callsPerSecond, waiting }) => {
    if (row !== undefined) progress.show(row, callsPerSecond);
    if (waiting === undefined || warned) return;
    process.stderr.write(`${waiting}\n`);
    warned = true;
  };
}

function describe({ state, counts, seconds, leftOut }: StreamResult): string {
  const numbers = Object.entries(counts ?? {}).map(([name, count]) => `${count} ${name}`);
  const time = seconds === undefined ? '' : ` in ${seconds.toFixed(1)} s`;
  const list = leftOut.length === 0 ? '' : `\n${renderLeftOut(leftOut)}\n`;
  return `${state}: ${numbers.join(', ')}${time}\n${list}`;
}

function renderLeftOut(leftOut: StreamResult['leftOut']): string {
  const shown = leftOut.slice(0, MOST_LISTED).map(({ record, since, reason }) => [record, since, reason]);
  const more = leftOut.length > MOST_LISTED ? `\n... and ${leftOut.length - MOST_LISTED} more` : '';
  return `${renderTable(['left out', 'since', 'reason'], shown)}${more}`;
}

import type { Places } from '../../config.ts';
import { assertKnownStream } from '../../operator/assert-known-stream.ts';
import { followStream, type StreamLook, type StreamRequest, type StreamResult } from '../../operator/follow-stream.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { printJson } from '../print-json.ts';
import { renderTable } from '../table.ts';
import { withClient } from '../with-client.ts';
import { createProgress } from './progress.ts';

export interface SyncOptions extends Places, Omit<StreamRequest, 'stream'> {
  /** As it was typed. */
  stream: string;
  json: boolean;
}

/** At most so many of what was left out are listed. */
const MOST_LISTED = 20;

/** Starts a run, shows how far it is, and prints its counts. */
export async function followSync(options: SyncOptions): Promise<ExitCode> {
  const { stream } = options;
  assertKnownStream(stream);
  const result = await withClient(options, async (parts) => {
    const progress = createProgress(`${options.tenantId} ${stream}`);
    try {
      return await followStream(parts, { ...options, stream }, createWatcher(progress));
    } finally {
      progress.stop();
    }
  });
  if (options.json) printJson({ state: result.state, ...result.counts, leftOut: result.leftOut });
  else process.stdout.write(describe(result));
  return result.state === 'partial' ? EXIT.partial : EXIT.done;
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

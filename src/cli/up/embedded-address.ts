import { readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ConnectorError } from '../../errors.ts';

const ENDING_MS = 6_000;

/** Leaves the embedded server's address in the data directory, for the commands of other terminals. */
export async function rememberTemporal(dataDir: string, address: string): Promise<void> {
  await writeFile(fileOf(dataDir), `${address}\n`);
}

export async function forgetTemporal(dataDir: string): Promise<void> {
  await rm(fileOf(dataDir), { force: true });
}

/**
 * Two servers on one database file would destroy it, so no second one starts while the remembered one answers. One
 * whose parent was killed gets some seconds to end.
 */
export async function assertNoOtherTemporal(dataDir: string): Promise<void> {
  const address = (await readFile(fileOf(dataDir), 'utf8').catch(() => '')).trim();
  if (address === '') return;
  for (const until = performance.now() + ENDING_MS; performance.now() < until; await pause(200)) {
    if (!(await answers(address))) return;
  }
  throw new ConnectorError({
    code: 'DATA_IN_USE',
    action: 'reject',
    message:
      `Another hirebridge runs with the data directory ${dataDir} (its Temporal answers at ${address}). ` +
      'Stop it, or choose another directory with --data.',
  });
}

function answers(address: string): Promise<boolean> {
  const colon = address.lastIndexOf(':');
  const socket = connect(Number(address.slice(colon + 1)), address.slice(0, colon));
  return new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  }).finally(() => socket.destroy());
}

/** Points this process at the embedded server of `up`, unless environment or profile name another. */
export async function useEmbeddedTemporal(dataDir: string): Promise<void> {
  // Loaded here: Temporal's client takes longer than all that a command without Temporal does.
  const { temporalSettings } = await import('../../temporal/connection.ts');
  if (temporalSettings().address !== undefined) return;
  const address = await readFile(fileOf(dataDir), 'utf8').catch(() => '');
  if (address !== '') process.env['TEMPORAL_ADDRESS'] = address.trim();
}

function fileOf(dataDir: string): string {
  return join(dataDir, 'temporal.address');
}

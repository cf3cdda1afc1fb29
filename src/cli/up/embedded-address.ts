import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporalSettings } from '../../temporal/connection.ts';

/** Leaves the embedded server's address in the data directory, for the commands of other terminals. */
export async function rememberTemporal(dataDir: string, address: string): Promise<void> {
  await writeFile(fileOf(dataDir), `${address}\n`);
}

export async function forgetTemporal(dataDir: string): Promise<void> {
  await rm(fileOf(dataDir), { force: true });
}

/** Points this process at the embedded server of `up`, unless environment or profile name another. */
export async function useEmbeddedTemporal(dataDir: string): Promise<void> {
  if (temporalSettings().address !== undefined) return;
  const address = await readFile(fileOf(dataDir), 'utf8').catch(() => '');
  if (address !== '') process.env['TEMPORAL_ADDRESS'] = address.trim();
}

function fileOf(dataDir: string): string {
  return join(dataDir, 'temporal.address');
}

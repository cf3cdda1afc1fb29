import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { readWorkflows } from '../../harness/histories.ts';

/** By the type of their workflow, as the replay tests call them. */
const NAMES = { exchangeStream: 'exchange-stream.json', pushStream: 'push-stream.json' };

/**
 * With HIREBRIDGE_RECORD_HISTORIES=DIR the longest history of each type is written there: that is how the replay tests'
 * fixtures were made.
 */
export async function keepHistories(temporalAddress: string, storeUrl: string): Promise<void> {
  const dir = process.env['HIREBRIDGE_RECORD_HISTORIES'];
  if (dir === undefined) return;
  const all = await readWorkflows(temporalAddress, installationOf(storeUrl));
  await mkdir(dir, { recursive: true });
  for (const [type, name] of Object.entries(NAMES)) {
    const [longest] = all
      .filter((one) => one.type === type)
      .toSorted((one, other) => other.history.length - one.history.length);
    if (longest === undefined) throw new Error(`there is no history of a ${type}`);
    await writeFile(join(dir, name), longest.history);
  }
}

function installationOf(storeUrl: string): string {
  const database = new DatabaseSync(storeUrl.slice('sqlite:'.length), { readOnly: true, timeout: 60_000 });
  try {
    return String(database.prepare('select id from installation').get()?.['id']);
  } finally {
    database.close();
  }
}

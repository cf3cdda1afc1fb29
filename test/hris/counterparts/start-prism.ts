import { access } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../../src/free-port.ts';
import { endChild, spawnTied } from '../../../src/temporal/dev-server/spawn-tied.ts';
import { until } from '../../harness/until.ts';

/** Apache-2.0; fetched when the suite runs, because nothing else needs its 300 packages. */
const PRISM = '@stoplight/prism-cli@5.15.10';

/** The vendor's own document (MIT), beside this repository or where the variable says. */
const DOCUMENT =
  process.env['HIREBRIDGE_BAMBOOHR_OPENAPI'] ??
  fileURLToPath(new URL('../../../../shared/data/bamboohr/openapi.yaml', import.meta.url));

export function hasDocument(): Promise<boolean> {
  return access(DOCUMENT).then(
    () => true,
    () => false,
  );
}

/**
 * A proxy that holds both sides to the document: a request that breaks it is answered 422, and an answer that breaks it
 * 500 with the violations.
 */
export async function startPrism(target: string): Promise<{ url: string; stop(): Promise<void> }> {
  const port = String(await freePort());
  const args = ['--yes', PRISM, 'proxy', DOCUMENT, target, '--errors', '-h', '127.0.0.1', '-p', port];
  const child = spawnTied('npx', args, { output: 'ignore' });
  const url = `http://127.0.0.1:${port}`;
  const answers = () =>
    fetch(url).then(
      () => true,
      () => false,
    );
  await until('Prism answers', answers, { timeoutMs: 240_000, everyMs: 500 });
  return { url, stop: () => endChild(child) };
}

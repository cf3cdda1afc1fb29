import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode } from '@temporalio/worker';

/** A package brings its workflows bundled, in these files at the root of its build: plain, and with spans. */
export const PACKED_BUNDLES = { plain: 'workflow-bundle.js', traced: 'workflow-bundle.traced.js' } as const;
export type BundleKind = keyof typeof PACKED_BUNDLES;

const workflowsDir = fileURLToPath(new URL('../../workflows/', import.meta.url));
const entry = join(workflowsDir, 'index.ts');
/** What makes the spans of a workflow; its packages are loaded in its sandbox. */
const tracer = fileURLToPath(new URL('../telemetry/workflow-interceptors.ts', import.meta.url));
/** The place that an import or export names, unless it is of types alone. */
const IMPORTED = /^(?:import|export)\s(?!type\b)[^;]*?['"](\.{1,2}\/[^'"]+)['"]/gm;

/**
 * The workflows as one file: the package's, or in a clone one made once per content and SDK version. Bundling takes
 * about two seconds, which every start of a worker would pay. `cacheDir` is the installation's own.
 */
export async function workflowBundle(cacheDir: string, kind: BundleKind = 'plain'): Promise<{ codePath: string }> {
  const packed = fileURLToPath(new URL(`../../${PACKED_BUNDLES[kind]}`, import.meta.url));
  if (existsSync(packed)) return { codePath: packed };
  const codePath = join(cacheDir, `workflows-${contentHash(kind)}.js`);
  try {
    readFileSync(codePath);
  } catch {
    const code = await bundleWorkflows(kind);
    mkdirSync(cacheDir, { recursive: true, mode: 0o700 });
    // Another worker may do the same; a rename never shows half a file.
    const temporary = `${codePath}.${process.pid}`;
    writeFileSync(temporary, code);
    renameSync(temporary, codePath);
  }
  return { codePath };
}

/** The workflows of a clone as one script. */
export async function bundleWorkflows(kind: BundleKind = 'plain'): Promise<string> {
  const modules = kind === 'traced' ? [tracer] : [];
  const options = { workflowsPath: entry, workflowInterceptorModules: modules, logger: silent };
  const { code } = await bundleWorkflowCode(options);
  return code;
}

function contentHash(kind: BundleKind): string {
  const hash = createHash('sha256');
  const { version } = createRequire(import.meta.url)('@temporalio/worker/package.json') as { version: string };
  hash.update(version).update(kind);
  if (kind === 'traced') hash.update(readFileSync(tracer, 'utf8'));
  for (const [file, text] of bundledFiles()) hash.update(relative(workflowsDir, file)).update(text);
  return hash.digest('hex').slice(0, 16);
}

/** What the bundle is made of, by path: workflows and what they import from other rooms, types left out. */
export function bundledFiles(): Map<string, string> {
  const texts = new Map<string, string>();
  const waiting = [entry];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (texts.has(file)) continue;
    const text = readFileSync(file, 'utf8');
    texts.set(file, text);
    for (const [, path = ''] of text.matchAll(IMPORTED)) waiting.push(resolve(dirname(file), path));
  }
  return new Map([...texts].toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

const nothing = (): void => undefined;
const silent = { log: nothing, trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing };

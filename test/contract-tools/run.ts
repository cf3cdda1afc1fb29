/**
 * Independent judges of the document, the collection and the sandbox that serves them: `npm run test:contract-tools [--
 * NAME...]`.
 * spectral (strict), schemathesis (at least 10,000 cases) and newman, each at a pinned version, run against one live
 * sandbox.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openWorld } from '../sandbox/cases/world.ts';
import { runNewman } from './newman.ts';
import { runSchemathesis } from './schemathesis.ts';
import { knownIds, seedForTools } from './seed-for-tools.ts';
import { runSpectral } from './spectral.ts';
import type { Judged, Tool, ToolInput } from './tool.ts';

const TOOLS: Record<string, Tool> = { spectral: runSpectral, newman: runNewman, schemathesis: runSchemathesis };
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !Object.hasOwn(TOOLS, name));
if (unknown.length > 0) throw new Error(`No tool is called ${unknown.join(' or ')}: ${Object.keys(TOOLS).join(', ')}.`);

const folder = await mkdtemp(join(tmpdir(), 'hirebridge-contract-tools-'));
await using world = await openWorld();
try {
  const input = await prepare();
  const names = Object.keys(TOOLS).filter((name) => wanted.length === 0 || wanted.includes(name));
  for (const name of names) tell(name, await judged(TOOLS[name] as Tool, input));
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** The files as anybody gets them: from the control port of the running sandbox. */
async function prepare(): Promise<ToolInput> {
  await seedForTools(world.control);
  const files = ['openapi.json', 'collection.json', 'environment.json'];
  for (const file of files)
    await writeFile(join(folder, file), await (await fetch(`${world.controlUrl}/${file}`)).text());
  return { folder, baseUrl: world.baseUrl, key: world.key, known: await knownIds(world) };
}

/** A tool that cannot be installed or run has judged nothing, which is no success. */
async function judged(tool: Tool, input: ToolInput): Promise<Judged> {
  try {
    return await tool(input);
  } catch (error) {
    return { ok: false, says: error instanceof Error ? error.message : String(error), output: '' };
  }
}

function tell(name: string, { ok, says, output }: Judged): void {
  console.log(`${ok ? 'green' : 'RED  '}  ${name.padEnd(13)} ${says}`);
  if (ok) return;
  console.log(output.slice(-6_000));
  process.exitCode = 1;
}

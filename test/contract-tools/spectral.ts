import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Judged, run, type ToolInput } from './tool.ts';

const VERSION = '6.16.3';

/** Every rule of spectral's OpenAPI set, hints included: the first finding fails. */
export async function runSpectral({ folder }: ToolInput): Promise<Judged> {
  await writeFile(join(folder, 'ruleset.yaml'), 'extends: [[spectral:oas, all]]\n');
  const lint = ['lint', 'openapi.json', '--ruleset', 'ruleset.yaml', '--fail-severity', 'hint'];
  const { code, output, seconds } = await run(['npx', '--yes', `@stoplight/spectral-cli@${VERSION}`, ...lint], folder);
  const says = output.trim().split('\n').at(-1) ?? '';
  return { ok: code === 0 && /No results/.test(output), says: `${says} (${VERSION}, all rules, ${seconds} s)`, output };
}

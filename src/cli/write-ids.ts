import type { WrittenIds } from '../operator/mappings/write-ids.ts';
import { printJson } from './print-json.ts';

/** `discover --write`: what was changed in the tenant's file, line by line. */
export async function runWriteIds(tenantsDir: string, tenantId: string, options: { json?: boolean }): Promise<void> {
  const { writeIds } = await import('../operator/mappings/write-ids.ts');
  const written = await writeIds(tenantsDir, tenantId);
  if (options.json === true) printJson(written);
  else process.stdout.write(renderWritten(written));
}

function renderWritten({ file, changes }: WrittenIds): string {
  if (changes.length === 0) return `${file}: ids and labels are all in place. Nothing is written.\n`;
  const lines = changes.flatMap(({ line, before, after }) => [`${line} - ${before}`, `${line} + ${after}`]);
  return `${file}\n${lines.join('\n')}\nWritten. What was applied stays until: hirebridge tenant apply\n`;
}

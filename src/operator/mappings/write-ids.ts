import { randomUUID } from 'node:crypto';
import { chmod, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ConnectorError } from '../../errors.ts';
import { findTenantFile, readPartnerSection } from '../../tenants/find-tenant-file.ts';
import { readTenant } from '../../tenants/load-tenants.ts';
import { parseYaml, refuse, type YamlFile } from '../../yaml/yaml-file.ts';
import { openPartner } from '../open-partner.ts';
import { fillIds } from './fill-ids.ts';
import { readNamedThings } from './named-things.ts';

/** What became of a tenant file: its changed lines, none where everything stood there already. */
export interface WrittenIds {
  file: string;
  changes: { line: number; before: string; after: string }[];
}

/**
 * Puts ids and labels where the tenant's file of the folder needs them; all of them or nothing.
 * @throws ConnectorError TENANT_UNKNOWN, TENANT_FILE_INVALID, IDS_UNCLEAR, FILE_CHANGED
 */
export async function writeIds(tenantsDir: string, tenantId: string): Promise<WrittenIds> {
  const source = await findTenantFile(tenantsDir, tenantId);
  const partner = openPartner({ partner: readPartnerSection(source) });
  try {
    const filled = fillIds(source, await readNamedThings(source, partner));
    if ('problems' in filled) throw refuse('IDS_UNCLEAR', filled.problems);
    const changes = changedLines(source.text, filled.text);
    if (changes.length > 0) await replaceFile(source, filled.text);
    return { file: source.file, changes };
  } finally {
    await partner.close();
  }
}

/** Ids and comments stay on their lines, so that both texts have as many. */
function changedLines(before: string, after: string): WrittenIds['changes'] {
  const now = after.split(/\r?\n/);
  return before.split(/\r?\n/).flatMap((line, at) => {
    const changed = now[at] ?? '';
    return line === changed ? [] : [{ line: at + 1, before: line, after: changed }];
  });
}

/** The whole new file or the old one, whatever happens meanwhile; what a link points at, and with the file's mode. */
async function replaceFile({ file, text: before }: YamlFile, text: string): Promise<void> {
  const { problems } = await readTenant(parseYaml(file, text), {});
  if (problems.length > 0) throw refuse('TENANT_FILE_INVALID', problems);
  const path = await realpath(file);
  const temporary = join(dirname(path), `.${basename(path)}.${randomUUID()}.tmp`);
  try {
    const { mode } = await stat(path);
    await writeFile(temporary, text, { flag: 'wx', mode });
    await chmod(temporary, mode);
    if ((await readFile(path, 'utf8')) !== before) throw changedMeanwhile(file);
    await rename(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
}

function changedMeanwhile(file: string): ConnectorError {
  return new ConnectorError({
    code: 'FILE_CHANGED',
    action: 'reject',
    message: `${file} was changed while the hiring platform was asked, and nothing is written. Run it again.`,
  });
}

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findHrisAdapter } from '../../src/hris/registry.ts';
import { loadMapping } from '../../src/mapping/load-mapping.ts';
import { landedNames, landings, pullStreams } from '../../src/streams/streams.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';

describe('the default mapping of the sql adapter', () => {
  test('loads against the adapter’s own fields, alone and under a tenant’s file', async () => {
    const sql = findHrisAdapter('sql')!;
    const fields = sql.employeeFields(sql.optionsSchema(landings).parse({ url: 'sqlite:x' }));
    const plain = await loadMapping({ kind: 'sql', fields });
    expect(plain.fields.map((field) => field.target)).toEqual(
      expect.arrayContaining(['givenName', 'familyName', 'email', 'startDate', 'title']),
    );
    const file = join(await scratchFolder(), 'tenant.yaml');
    await writeFile(file, 'fields:\n  employmentType: { constant: permanent }\n');
    const layered = await loadMapping({ kind: 'sql', fields, file });
    expect(layered.fields).toHaveLength(plain.fields.length + 1);
    expect(layered.hash).not.toBe(plain.hash);
  });

  test.each(landedNames)('the default of %s fits its landing table, and reads one record alone', async (of) => {
    const sql = findHrisAdapter('sql')!;
    const fields = sql.landingFields!(sql.optionsSchema(landings).parse({ url: 'sqlite:x' }), of);
    const { name, ...record } = pullStreams[of].record;
    const subject = { name: of, reads: { [name]: record } };
    const plain = await loadMapping({ kind: 'sql', of: subject, fields });
    expect(plain.fields.map((field) => field.target).toSorted()).toEqual(fields.map((field) => field.key).toSorted());
    const file = join(await scratchFolder(), `${of}.yaml`);
    const target = fields[0]?.key ?? '';
    const other = name === 'jobCandidate' ? 'candidate.summary' : 'jobCandidate.aiSummary';
    await writeFile(file, `fields:\n  ${target}: { from: ${other} }\n`);
    const place = `${of}.yaml:2:${target.length + '  : { from: '.length + 1}`;
    await expect(loadMapping({ kind: 'sql', of: subject, fields, file })).rejects.toMatchObject({
      code: 'MAPPING_INVALID',
      message: expect.stringContaining(`${place} ${other} is not available here`) as string,
    });
  });
});

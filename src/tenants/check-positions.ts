import type { Mapping } from '../mapping/load-mapping.ts';
import { type Path, type Problem, problemAt, type YamlFile } from '../yaml/yaml-file.ts';
import type { Tenant } from './schema.ts';

/** Names what keeps the stream `positions` from running, and custom fields that `requisitions` writes as well. */
export function checkPositions(source: YamlFile, tenant: Tenant, mapping: Mapping | undefined): Problem[] {
  const { requisitions, streams, hris } = tenant;
  const { every, mapping: file } = streams.positions;
  if (every === undefined && file === undefined) return [];
  if (requisitions === undefined || hris.options['requisitions'] === undefined) {
    const text =
      'positions exchanges values of jobs that the stream requisitions made. It needs the section requisitions, and ' +
      'hris.requisitions, of an HR system that has open positions.';
    return [problemAt(source, ['streams', 'positions'], text)];
  }
  const written: [Path, string][] = [
    [['requisitions', 'reference'], requisitions.reference],
    ...requisitions.values.map(({ customFieldId }, at): [Path, string] => [
      ['requisitions', 'values', at],
      customFieldId,
    ]),
  ];
  return written.flatMap(([path, id]) => {
    const rule = mapping?.back.find(
      ({ from: [to] }) => to !== undefined && 'customField' in to && to.customField === id,
    );
    if (rule === undefined) return [];
    const text = `the mapping of "${rule.target}" in streams.positions writes ${id} as well. Keep one of the two.`;
    return [problemAt(source, path, text)];
  });
}

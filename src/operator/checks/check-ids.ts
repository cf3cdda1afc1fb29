import type { PartnerClient } from '../../partner/client/create-partner-client.ts';
import type { Tenant } from '../../tenants/schema.ts';
import { parseYaml } from '../../yaml/yaml-file.ts';
import { findIdPlaces } from '../mappings/id-places.ts';
import { readNamedThings } from '../mappings/named-things.ts';
import { settleId } from '../mappings/settle-id.ts';
import type { Found } from './check-line.ts';

/** Every place of the tenant file that takes an id names something by its id. */
export async function checkIds({ tenant, file, files }: Tenant, partner: PartnerClient): Promise<Found> {
  const source = parseYaml(file, files[file] ?? '');
  const { places } = findIdPlaces(source);
  const things = await readNamedThings(source, partner);
  const found = places.flatMap((place) => {
    const settled = settleId(place, things[place.kind]);
    if (settled === 'leave') return [];
    if ('refusal' in settled) return [settled.refusal];
    const { id, label } = settled.thing;
    const where = `"${place.path.join('.')}"`;
    if (place.wanted === id) return [];
    return [`${where} is "${place.wanted}", a label, and takes the id of "${label}": ${id}.`];
  });
  if (found.length === 0)
    return { state: 'ok', message: `${places.length} ids of the tenant file name what is there.` };
  return { state: 'fail', message: `${found.join(' ')} hirebridge discover ${tenant} --write puts ids for labels.` };
}

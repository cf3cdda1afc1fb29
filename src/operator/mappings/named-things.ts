import type { PartnerClient } from '../../partner/client/create-partner-client.ts';
import { contract } from '../../partner/contract/index.ts';
import type { FieldDefinition } from '../../store/fields.ts';
import type { YamlFile } from '../../yaml/yaml-file.ts';
import { readCustomFields, readFlows, readStages } from './discover.ts';
import { findIdPlaces, type ThingKind } from './id-places.ts';
import type { NamedThing, NamedThings } from './settle-id.ts';

/** Only lists that the file names something of are read: there can be thousands of jobs. */
export async function readNamedThings(source: YamlFile, partner: PartnerClient): Promise<NamedThings> {
  const kinds = new Set(findIdPlaces(source).places.map(({ kind }) => kind));
  const ifNamed = async <T>(among: readonly ThingKind[], read: () => Promise<T[]>): Promise<T[]> =>
    among.some((kind) => kinds.has(kind)) ? read() : [];
  const [flows, stages, fields, team, job] = await Promise.all([
    ifNamed(['flow'], () => readFlows(partner)),
    ifNamed(['stage'], () => readStages(partner)),
    ifNamed(['candidateField', 'jobField'], () => readCustomFields(partner)),
    ifNamed(['team'], () => readTeams(partner)),
    ifNamed(['job'], () => readJobs(partner)),
  ]);
  return {
    flow: flows.map(({ flowId, name, status }) => ({ id: flowId, label: name, about: status })),
    stage: stages.map(({ stageId, stage, pipeline }) => ({ id: String(stageId), label: stage, about: pipeline })),
    candidateField: fieldsOf('candidate', fields),
    jobField: fieldsOf('job', fields),
    team,
    job,
  };
}

function fieldsOf(entity: string, fields: readonly FieldDefinition[]): NamedThing[] {
  return fields
    .filter((field) => field.entity === entity)
    .map(({ id, label, type, section }) => ({ id, label, about: section ? `${type}, ${section}` : type }));
}

async function readTeams(partner: PartnerClient): Promise<NamedThing[]> {
  const { items } = await partner.readAll(contract.teams.list, {}, { priority: 'live' });
  return items.map(({ id, name }) => ({ id, label: name ?? '', about: '' }));
}

async function readJobs(partner: PartnerClient): Promise<NamedThing[]> {
  const { items } = await partner.readAll(contract.jobs.list, {}, { priority: 'live' });
  return items.map(({ id, title, status }) => ({ id: String(id), label: title, about: status }));
}

import { isConnectorError } from '../../errors.ts';
import type { HrisConnection } from '../../hris/port.ts';
import { noLanding } from '../../streams/land-page.ts';
import {
  isExchange,
  isLookup,
  landedNames,
  type PullName,
  type StreamName,
  streamNames,
} from '../../streams/streams.ts';
import { loadExchangeMapping, loadRequisitionMapping, loadStreamMapping } from '../../tenants/open-hris.ts';
import type { Tenant } from '../../tenants/schema.ts';
import { CALL_MS } from '../open-partner.ts';
import type { Found } from './check-line.ts';

/** Whether the HR system can do what the tenant's streams ask of it, and has the tables that they land in. */
export async function checkStreams(tenant: Tenant, hris: HrisConnection): Promise<Found> {
  const asked = streamNames.filter((name) => isAsked(tenant, name));
  const troubles = await Promise.all(asked.map((name) => troubleOf(tenant, hris, name)));
  const found = troubles.filter((one) => one !== undefined);
  if (found.length > 0) return { state: 'fail', message: found.join(' ') };
  const many = asked.length === 1 ? 'stream' : 'streams';
  return { state: 'ok', message: `The HR system can do what ${asked.length} ${many} ask of it.` };
}

/** Documents are named in a section of their own, whatever their schedule is. */
function isAsked(tenant: Tenant, name: StreamName): boolean {
  return tenant.streams[name].every !== undefined || (name === 'documents' && tenant.documents !== undefined);
}

async function troubleOf(tenant: Tenant, hris: HrisConnection, name: StreamName): Promise<string | undefined> {
  if (isLookup(name)) return undefined;
  const landed = landedNames.find((one) => one === name);
  if (landed !== undefined) return landingTrouble(tenant, hris, landed);
  const needs = NEEDS[name]?.(tenant, hris);
  if (needs !== undefined) return `streams.${name}: ${needs}`;
  if (isExchange(name) && (await loadExchangeMapping(tenant, name)) === undefined)
    return `streams.${name}: nothing says which fields it exchanges. Name a mapping file in streams.${name}.mapping.`;
  if (name === 'requisitions' && (await loadRequisitionMapping(tenant)) === undefined)
    return 'streams.requisitions: nothing maps them. Name a mapping file in streams.requisitions.mapping.';
  return undefined;
}

/** What is missing, and the next step. */
const NEEDS: Partial<Record<StreamName, (tenant: Tenant, hris: HrisConnection) => string | undefined>> = {
  documents: ({ documents, hris: { kind } }, { files }) => {
    if (files === undefined)
      return `an HR system of kind ${kind} takes no documents as it is set. Remove streams.documents and "documents".`;
    return documents === undefined ? 'the tenant file does not say which. Add "documents: [resume]".' : undefined;
  },
  requisitions: ({ requisitions, hris: { kind } }, hris) => {
    if (hris.requisitions === undefined)
      return `an HR system of kind ${kind} tells none as it is set. Set hris.requisitions, or remove the stream.`;
    return requisitions === undefined ? 'the tenant file has no section "requisitions". Add it.' : undefined;
  },
  amendments: ({ hris: { kind } }, { employees }) =>
    employees.amend === undefined ? `an HR system of kind ${kind} cannot be amended. Remove the stream.` : undefined,
};

/** Reads no row: asks for one that nobody has. */
async function landingTrouble(tenant: Tenant, hris: HrisConnection, name: PullName): Promise<string | undefined> {
  const mapping = await loadStreamMapping(tenant, name);
  if (hris.landing === undefined || mapping === undefined) return noLanding(tenant.hris.kind, name).message;
  try {
    await hris.landing.read(name, ['0'], { tenant: tenant.tenant, signal: AbortSignal.timeout(CALL_MS) });
    return undefined;
  } catch (error) {
    if (isConnectorError(error) && error.action === 'reject') return error.message;
    throw error;
  }
}

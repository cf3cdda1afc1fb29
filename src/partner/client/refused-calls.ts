import { ConnectorError } from '../../errors.ts';
import { type UndefinedEndpoint, undefinedEndpoints } from '../contract/undefined-endpoints.ts';

type Refused = () => Promise<never>;

/**
 * Endpoints the specification names and shows nothing of. They are here so that a caller meets a reason and not a
 * missing function.
 */
export interface RefusedCalls {
  jobs: { get: Refused; update: Refused };
  bookings: { reschedule: Refused; cancel: Refused; checkIn: Refused; markNoShow: Refused };
  campaigns: { update: Refused };
}

/** Adds the refusals to the tree of calls. */
export function withRefusedCalls(
  calls: Record<string, Record<string, unknown>>,
): Record<string, Record<string, unknown>> {
  const tree = Object.fromEntries(Object.entries(calls).map(([section, own]) => [section, { ...own }]));
  for (const endpoint of undefinedEndpoints) {
    const [section = '', name = ''] = endpoint.id.split('.');
    tree[section] = { ...tree[section], [name]: () => Promise.reject(notShown(endpoint)) };
  }
  return tree;
}

function notShown(endpoint: UndefinedEndpoint): ConnectorError {
  return new ConnectorError({
    code: 'NOT_IN_SPECIFICATION',
    action: 'reject',
    message:
      `${endpoint.id} was not sent: section ${endpoint.section} leaves it open (${endpoint.what}). It must be done ` +
      `in the partner's dashboard.`,
    details: { operation: endpoint.id, section: endpoint.section },
  });
}

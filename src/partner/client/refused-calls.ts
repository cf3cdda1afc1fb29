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

/** The refusals of one section of the contract, by name. */
export function refusedCallsOf(section: string): Record<string, Refused> {
  const refused = undefinedEndpoints.map((endpoint) => [endpoint, ...endpoint.id.split('.')] as const);
  return Object.fromEntries(
    refused
      .filter(([, own]) => own === section)
      .map(([endpoint, , name = '']) => [name, () => Promise.reject(notShown(endpoint))]),
  );
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

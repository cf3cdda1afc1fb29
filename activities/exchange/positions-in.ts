import { ConnectorError } from '../../src/errors.ts';
import type { Requisitions } from '../../src/hris/port.ts';
import type { Connection } from '../connections.ts';

/** The HR system's open positions. @throws ConnectorError REQUISITIONS_UNCONFIGURED if no table is named */
export function positionsIn({ hris, tenant }: Pick<Connection, 'hris' | 'tenant'>): Requisitions {
  if (hris.requisitions !== undefined) return hris.requisitions;
  throw new ConnectorError({
    code: 'REQUISITIONS_UNCONFIGURED',
    action: 'reject',
    message:
      `Positions of ${tenant.tenant} cannot be exchanged: the HR system provides none. Name their table in the ` +
      'tenant file (hris.requisitions) and apply it.',
  });
}

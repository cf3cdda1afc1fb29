import type { ListEndpoint } from '../partner/client/types.ts';
import { contract } from '../partner/contract/index.ts';
import { lookupTable } from './lookup-table.ts';

/** People of the partner's workspace: a hiring manager's e-mail by the user's id. */
export const users = lookupTable('users', { list: contract.users.list as ListEndpoint });

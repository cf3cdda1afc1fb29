import type { ListEndpoint } from '../partner/client/types.ts';
import { contract } from '../partner/contract/index.ts';
import { lookupTable } from './lookup-table.ts';

export const teams = lookupTable('teams', { list: contract.teams.list as ListEndpoint });

import { definedKind } from '../http/http.ts';
import type { HrisAdapter } from '../port.ts';

/** SCIM 2.0 (RFC 7643, RFC 7644): HR systems and directories that speak it; `scim.yaml` is all of it. */
export const scim: HrisAdapter = definedKind('scim');

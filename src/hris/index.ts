import { definedKind } from './http/http.ts';
import type { HrisAdapter } from './port.ts';

/**
 * Every HRIS adapter, one line each. The name here is the `hris.kind` in tenant files and the folder of its default
 * mappings.
 */
export { bamboohr } from './bamboohr/bamboohr.ts';
/** Microsoft Entra ID, by uploads to a provisioning job; fully described by `entra.yaml`. */
export const entra: HrisAdapter = definedKind('entra');
export { http } from './http/http.ts';
export { ldap } from './ldap/ldap.ts';
export { module } from './module.ts';
export { sftp } from './sftp/sftp.ts';
export { sql } from './sql/sql.ts';
export { tryton } from './tryton/tryton.ts';
/** Odoo's HR application; fully described by `odoo.yaml`. */
export const odoo: HrisAdapter = definedKind('odoo');
/** SCIM 2.0 (RFC 7643, RFC 7644), for HR systems and directories that support it; fully described by `scim.yaml`. */
export const scim: HrisAdapter = definedKind('scim');

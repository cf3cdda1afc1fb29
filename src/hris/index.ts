/**
 * Every HRIS adapter, one line each. Its name here is the `hris.kind` of tenant files and the folder of its default
 * mappings.
 */
export { bamboohr } from './bamboohr/bamboohr.ts';
export { http } from './http/http.ts';
export { odoo } from './kinds/odoo.ts';
export { scim } from './kinds/scim.ts';
export { module } from './module.ts';
export { sftp } from './sftp/sftp.ts';
export { sql } from './sql/sql.ts';
export { tryton } from './tryton/tryton.ts';

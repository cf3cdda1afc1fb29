import { definedKind } from '../http/http.ts';
import type { HrisAdapter } from '../port.ts';

/** Odoo's HR application; `odoo.yaml` is all of it. */
export const odoo: HrisAdapter = definedKind('odoo');

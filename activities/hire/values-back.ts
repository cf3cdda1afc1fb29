import { ConnectorError } from '../../src/errors.ts';
import type { EmployeeFields } from '../../src/hire/employee.ts';
import { type BackValue, evaluateBack } from '../../src/mapping/evaluate-back.ts';
import { foldLabel } from '../../src/mapping/read-source.ts';
import type { CustomField } from '../../src/partner/contract/custom-fields.ts';
import { contract } from '../../src/partner/contract/index.ts';
import type { TargetValue } from '../../src/plan/plan-write-back.ts';
import type { Connection } from '../connections.ts';

/** What the mapping's rules to the partner give for the candidate's custom fields; without such rules, no call. */
export async function valuesBack({ mapping, partner }: Connection, fields: EmployeeFields): Promise<TargetValue[]> {
  if (mapping.back.length === 0) return [];
  const { values, problems } = evaluateBack(mapping, fields);
  if (problems.length > 0) throw notReversible(problems.map(({ code, text }) => `${text} [${code}]`).join(' '));
  if (values.length === 0) return [];
  const query = { entityType: 'candidate' } as const;
  const { items } = await partner.readAll(contract.customFields.list, { query }, { priority: 'live' });
  return values.map(({ path, value }) => ({ customFieldId: customFieldOf(path, items), value }));
}

/** By its id, or by the only one of this label. */
function customFieldOf(path: BackValue['path'], definitions: readonly CustomField[]): string {
  const wanted = 'customField' in path ? path.customField : path.text;
  const ofCandidates = definitions.filter(({ entityType }) => entityType === 'candidate');
  const byId = ofCandidates.find(({ id }) => id === wanted);
  const label = foldLabel(wanted);
  const hits = byId ? [byId] : ofCandidates.filter(({ fieldLabel }) => foldLabel(fieldLabel) === label);
  const [only] = hits;
  if (only !== undefined && hits.length === 1) return only.id;
  const found = hits.length === 0 ? 'no candidate custom field is' : `${hits.length} candidate custom fields are`;
  throw new ConnectorError({
    code: 'CUSTOM_FIELD_UNCLEAR',
    action: 'reject',
    message:
      `The mapping writes ${path.text} at the partner, where ${found} called so. ` +
      'Write its id in the mapping, or define the field there; then answer retry.',
  });
}

function notReversible(reasons: string): ConnectorError {
  return new ConnectorError({
    code: 'VALUE_NOT_REVERSIBLE',
    action: 'reject',
    message:
      `A value of the employee cannot be written back: ${reasons} ` +
      'Then answer retry; or keep to end the hire as it is.',
  });
}

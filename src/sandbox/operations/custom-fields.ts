/** Section 4.5: custom field definitions. */
import { isSectionOf } from '../../partner/contract/custom-fields.ts';
import { invalidRequest } from '../errors.ts';
import {
  createCustomField,
  deleteCustomField,
  findCustomField,
  listCustomFields,
  renderCustomField,
  SELECT_TYPES,
  updateCustomField,
} from '../records/custom-fields/custom-fields.ts';
import { confirmation, type OperationTree, success } from './operation.ts';

export const customFields = {
  list: (ctx, { query }) => success(listCustomFields(ctx, query.entityType).map(renderCustomField)),

  get: (ctx, { params }) => success(renderCustomField(findCustomField(ctx, params.customFieldId))),

  create: (ctx, { body }) =>
    success(renderCustomField(createCustomField(ctx, body)), { message: 'Custom field created' }),

  update(ctx, { params, body }) {
    const field = findCustomField(ctx, params.customFieldId);
    if (SELECT_TYPES.has(field.fieldType) && body.options?.length === 0) {
      throw invalidRequest('Options are required for select and multi-select', { options: 'must not be empty' });
    }
    if (body.parentSection !== undefined && !isSectionOf(field.entityType, body.parentSection)) {
      throw invalidRequest('Section is not one of the entity', {
        parentSection: `is no section of a ${field.entityType}`,
      });
    }
    return success(renderCustomField(updateCustomField(ctx, field.id, body)));
  },

  remove(ctx, { params }) {
    deleteCustomField(ctx, params.customFieldId);
    return confirmation('Custom field deleted');
  },
} satisfies OperationTree['customFields'];

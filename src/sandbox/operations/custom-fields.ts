import { isSectionOf } from '../../partner/contract/custom-fields.ts';
import { invalidRequest } from '../errors.ts';
import {
  createCustomField,
  deleteCustomField,
  findCustomField,
  findValue,
  listCustomFields,
  removeValues,
  renderCustomField,
  renderValue,
  requireEntity,
  SELECT_TYPES,
  updateCustomField,
  upsertValue,
  upsertValues,
  valuesOf,
} from '../records/custom-fields.ts';
import { confirmation, type OperationTree, success } from './operation.ts';

export const customFieldValues = {
  list: (ctx, { query }) => success(valuesOf(ctx, query.entityType, query.entityId).map(renderValue)),

  get: (ctx, { params }) => success(renderValue(findValue(ctx, params.valueId))),

  upsert: (ctx, { body }) => success(renderValue(upsertValue(ctx, body))),

  /** One bad entry refuses all (F3, assumed): the transaction around the operation undoes the others. */
  upsertBulk: (ctx, { body }) => success(upsertValues(ctx, body).map(renderValue)),

  remove(ctx, { params }) {
    removeValues(ctx, [findValue(ctx, params.valueId)]);
    return confirmation('Custom field value deleted');
  },

  /** Without a parent in the query nested values go too; with one only those (F6, assumed). */
  removeByEntity(ctx, { params, query }) {
    requireEntity(ctx, params.entityType, params.entityId);
    const { parentEntityType, parentEntityId } = query;
    const chosen = valuesOf(ctx, params.entityType, params.entityId).filter(
      (value) =>
        (parentEntityType === undefined || value.parentEntityType === parentEntityType) &&
        (parentEntityId === undefined || value.parentEntityId === parentEntityId),
    );
    removeValues(ctx, chosen);
    return confirmation(`${String(chosen.length)} custom field values deleted`);
  },
} satisfies OperationTree['customFieldValues'];

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

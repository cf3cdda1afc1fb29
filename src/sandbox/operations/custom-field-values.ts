/** Section 4.5: custom field values. */
import {
  findValue,
  removeValues,
  renderValue,
  requireEntity,
  upsertValue,
  upsertValues,
  valuesOf,
} from '../records/custom-fields/custom-field-values.ts';
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

export { type Connection, connectionState, noRelation, type Relation, relationshipOf } from './relation.ts'
export { changeRelation, findRelation, listAudience, listReceivers } from './relation-store.ts'
export { relationsMigrations } from './relations-migrations.ts'

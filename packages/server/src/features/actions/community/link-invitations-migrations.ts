import type { Migration } from '#infra/db/index.ts'

/** The identities that have redeemed a link into a community, and until when it accepts their CONN. */
export const linkInvitationsMigrations: readonly Migration[] = [
  {
    id: '0045_link_invitations',
    async up(schema) {
      await schema.createTable(
        'link_invitations',
        { tenant_id: 'integer', guest_tag: 'text', expires_at: 'integer' },
        { primaryKey: ['tenant_id', 'guest_tag'], clustered: true },
      )
    },
  },
]

/** The columns that statements on actions use. */
export interface ActionRow {
  tenant_id: number
  action_id: string
  type: string
  sub_type: string | null
  issuer_tag: string
  author_tag: string | null
  audience_tag: string | null
  audience: string | null
  parent_id: string | null
  root_id: string | null
  within_id: string | null
  subject: string | null
  visibility: string | null
  status: string
  flags: string | null
  created_at: number
  issued_at: number
  published_at: number | null
  publish_at: number | null
  expires_at: number | null
  unique_key: string | null
  marked: number
  content: string | null
  attachments: string | null
  x: string | null
  nonce: string | null
  token: string | null
  /** An import has brought it along, and its signature has not been verified. */
  unverified: number
  /** What it says something about, and the SHA-256 of its token, while the tenant does not hold that. */
  target_id: string | null
  target_hash: string | null
  /** The tenant holds another token under that id. */
  mismatched: number
}

/** With the columns that lists are selected and sorted by. */
export interface WrittenRow extends ActionRow {
  /** Of third parties, at a person: lists show it only to the tenant and to its issuer, its audience and its
   * subject. */
  feed_only: number
}

export interface ActionTables {
  actions: WrittenRow & {
    seq: number
    stat_at: number | null
    reactions: number
    comments: number
    views: number
    shares: number
    kept_since: number | null
  }
  action_recipients: {
    tenant_id: number
    action_id: string
    id_tag: string
    created_at: number
    feed_only: number
  }
  action_attachments: {
    tenant_id: number
    file_id: string
    action_id: string
    issuer_tag: string
    awaited: number
  }
  action_tags: {
    tenant_id: number
    tag: string
    action_id: string
    created_at: number
    feed_only: number
    /** Guests may read it. */
    is_public: number
  }
}

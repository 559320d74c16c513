/** The settings with which a tenant accepts from strangers what it otherwise refuses. */
export type StrangerSetting = 'privacy.open_messages' | 'privacy.open_wall'

/** Whether a receiver accepts a type from a stranger: an identity that it neither follows nor is connected with; for a
 * community one whose role is below `contributor`. An action that only names the receiver, as its subject for instance,
 * is accepted. */
export type StrangerRule =
  /** Accepted from strangers as from others. */
  | 'taken'
  /** Accepted as a request, which waits for an answer. */
  | 'request'
  | 'refused'
  /** Refused where it is addressed to the receiver, unless this setting of it is on. */
  | {
      readonly persons: StrangerSetting | 'refused'
      readonly communities: StrangerSetting | 'refused'
      /** Accepted in answer to an action that the receiver holds and the stranger may read, addressed or not; otherwise the
       * setting decides. */
      readonly onReadable?: true
    }

/** What a rule says of one action: `taken`, `refused`, or the setting that decides. An action is addressed to the receiver
 * that it names as `audienceTag` or in `audience`. */
export function applyStrangerRule(
  rule: StrangerRule,
  action: {
    readonly receiver: 'person' | 'community'
    readonly isAddressed: boolean
    /** It answers an action that the receiver holds. */
    readonly isOnReadable: boolean
  },
): 'taken' | 'refused' | StrangerSetting {
  if (rule === 'taken' || rule === 'request') return 'taken'
  if (rule === 'refused') return 'refused'
  if (rule.onReadable ? action.isOnReadable : !action.isAddressed) return 'taken'
  return action.receiver === 'community' ? rule.communities : rule.persons
}

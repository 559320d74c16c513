import type { CommunityRole, Profile } from '@kith/protocol'
import { useState } from 'preact/hooks'
import { formatMoment } from '#lib/format.ts'
import { Button } from '#ui/button.tsx'
import { Choice } from '#ui/choice.tsx'
import { Dialog } from '#ui/dialog.tsx'
import { TextArea } from '#ui/text-area.tsx'
import { useLocale, useTexts } from '#ui/use-texts.ts'
import { isAtLeast } from './communities-query.ts'
import { communitiesTexts } from './communities-texts.ts'
import { manageTexts } from './manage-texts.ts'
import { type OfferedRole, offeredRoles } from './role-select.tsx'
import { type MemberChange, useChangeMember } from './use-change-member.ts'

interface ManageMemberProps {
  readonly idTag: string
  readonly member: Profile
  readonly name: string
  /** One's own. */
  readonly role: CommunityRole | undefined
  readonly onClose: () => void
}

/** What those who lead may do about a member: leaders change the role, they and moderators ban. */
export function ManageMember({ idTag, member, name, role, onClose }: ManageMemberProps) {
  const t = useTexts(communitiesTexts)
  const change = useChangeMember(idTag, member.idTag, name)
  const [isBanning, setBanning] = useState(false)
  const run = (wanted: MemberChange) => {
    onClose()
    change.mutate(wanted)
  }
  const isLeader = isAtLeast(role, 'leader')
  const remove = () => run({ body: { role: 'public' }, done: t['done:disconnect'](name) })
  if (isBanning)
    return (
      <Dialog title={`${t.ban}: ${name}`} onClose={onClose}>
        <BanForm name={name} onChange={run} />
      </Dialog>
    )
  return (
    <Dialog title={name} onClose={onClose}>
      <div class="stack">
        {isLeader && <RoleForm member={member} name={name} onChange={run} />}
        {isBanned(member) && <Banned member={member} name={name} onChange={run} />}
        {!isBanned(member) && (
          <div>
            <Button icon="shield" onClick={() => setBanning(true)}>
              {t.ban}
            </Button>
            <p class="soft">{t.banWhy}</p>
          </div>
        )}
        {isLeader && (
          <div>
            <Button kind="danger" icon="user-x" onClick={remove}>
              {t.removeMember}
            </Button>
            <p class="soft">{t.removeMemberWhy}</p>
          </div>
        )}
      </div>
    </Dialog>
  )
}

/** Whether somebody is kept out, for a time or until that is ended. */
export function isBanned({ status }: Pick<Profile, 'status'>): boolean {
  return status === 'Banned' || status === 'Suspended' || status === 'Blocked'
}

interface FormProps {
  readonly name: string
  readonly onChange: (change: MemberChange) => void
}

function RoleForm({ member, name, onChange }: FormProps & { readonly member: Profile }) {
  const t = useTexts(communitiesTexts)
  const manage = useTexts(manageTexts)
  const now = offeredRoles.find((each) => each === member.role)
  const [wanted, setWanted] = useState<OfferedRole>(now ?? 'contributor')
  return (
    <div class="stack">
      <Choice
        label={manage.newRole}
        value={wanted}
        onChange={setWanted}
        options={offeredRoles.map((value) => ({
          value,
          label: t[`is:${value}`],
          hint: manage[`may:${value}`],
        }))}
      />
      <div>
        <Button
          icon="check"
          onClick={() =>
            onChange({ body: { role: wanted }, done: manage.roleChanged(name, t[`is:${wanted}`]) })
          }
        >
          {manage.saveRole}
        </Button>
      </div>
    </div>
  )
}

const banDays = ['1', '7', '30', '0'] as const
const daySecs = 86_400

function BanForm({ name, onChange }: FormProps) {
  const t = useTexts(communitiesTexts)
  const manage = useTexts(manageTexts)
  const [days, setDays] = useState<(typeof banDays)[number]>('7')
  const [reason, setReason] = useState('')
  const ban = () => {
    const until = Math.floor(Date.now() / 1000) + Number(days) * daySecs
    const banReason = reason.trim()
    const body = {
      status: 'Banned' as const,
      ...(days === '0' ? {} : { banExpiresAt: until }),
      ...(banReason === '' ? {} : { banReason }),
    }
    onChange({ body, done: t['done:block'](name) })
  }
  return (
    <div class="stack">
      <p class="soft">{t.banWhy}</p>
      <Choice
        label={manage.banUntil}
        value={days}
        onChange={setDays}
        isInRow
        options={banDays.map((value) => ({ value, label: manage[`ban:${value}`] }))}
      />
      <TextArea
        label={manage.banReason}
        value={reason}
        maxLength={500}
        dir="auto"
        onInput={(event) => setReason(event.currentTarget.value)}
      />
      <div>
        <Button kind="danger" icon="shield" onClick={ban}>
          {t.ban}
        </Button>
      </div>
    </div>
  )
}

function Banned({ member, name, onChange }: FormProps & { readonly member: Profile }) {
  const t = useTexts(communitiesTexts)
  const manage = useTexts(manageTexts)
  const locale = useLocale()
  const { banExpiresAt, banReason } = member
  return (
    <div>
      {banExpiresAt !== undefined && (
        <p>{manage.bannedUntil(formatMoment(new Date(banExpiresAt), locale))}</p>
      )}
      {banReason && <p class="soft">{manage.bannedWhy(banReason)}</p>}
      <Button
        icon="shield"
        onClick={() => onChange({ body: { status: 'Active' }, done: t['done:unblock'](name) })}
      >
        {t.unban}
      </Button>
    </div>
  )
}

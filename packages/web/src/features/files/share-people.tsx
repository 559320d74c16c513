import { createShare, deleteShare, type FileView, type SharePermission, type ShareView } from '@kith/protocol'
import { useQuery } from '@tanstack/preact-query'
import { useId, useState } from 'preact/hooks'
import { shownName } from '#lib/identity.ts'
import { client } from '#platform/client.ts'
import { notify } from '#platform/notices.ts'
import { Avatar } from '#ui/avatar.tsx'
import { Button } from '#ui/button.tsx'
import { Field } from '#ui/field.tsx'
import { useExplain } from '#ui/problem.tsx'
import { SelectField } from '#ui/select-field.tsx'
import { useTexts } from '#ui/use-texts.ts'
import styles from './sharing.module.css'
import { connectedPeople, refreshSharing } from './sharing-query.ts'
import { sharingTexts } from './sharing-texts.ts'

const permissions = ['R', 'W', 'A'] as const

interface SharePeopleProps {
  readonly file: FileView
  readonly shares: readonly ShareView[]
}

/** Who has a file, and what each may do with it. */
export function SharePeople({ file, shares }: SharePeopleProps) {
  const t = useTexts(sharingTexts)
  return (
    <>
      {shares.length === 0 && <p class="soft">{t.nobody}</p>}
      {shares.map((share) => (
        <SharedWith key={share.id} file={file} share={share} />
      ))}
      <NewShare files={[file]} />
    </>
  )
}

function SharedWith({ file, share }: { readonly file: FileView; readonly share: ShareView }) {
  const t = useTexts(sharingTexts)
  const explain = useExplain()
  const people = useQuery(connectedPeople)
  const known = people.data?.find(({ idTag }) => idTag === share.subjectId)
  const name = share.subjectType === 'F' ? t.readers : shownName(known?.name, share.subjectId)
  const end = async () => {
    try {
      await client.call(deleteShare, { params: { fileId: file.fileId, shareId: String(share.id) } })
      notify(t.ended)
    } catch (error) {
      notify(t.failed(explain(error)), { kind: 'failed' })
    }
    await refreshSharing()
  }
  const change = async (permission: SharePermission) => {
    try {
      const body = { subjectType: share.subjectType, subjectId: share.subjectId, permission }
      await client.call(createShare, { params: { fileId: file.fileId }, body })
    } catch (error) {
      notify(t.failed(explain(error)), { kind: 'failed' })
    }
    await refreshSharing()
  }
  return (
    <div class={styles.line}>
      <Avatar idTag={share.subjectId} name={name} hasPicture={known?.profilePic !== undefined} />
      <div>
        <bdi>
          <strong>{name}</strong>
        </bdi>
        <div class="soft">
          <bdi>{share.subjectId}</bdi>
        </div>
      </div>
      <div class={styles.rights}>
        <select
          class={styles.role}
          aria-label={t.mayOf(name)}
          value={share.permission}
          onChange={({ currentTarget }) => {
            const wanted = permissions.find((one) => one === currentTarget.value)
            if (wanted) void change(wanted)
          }}
        >
          {permissions.map((one) => (
            <option key={one} value={one}>
              {t[one]}
            </option>
          ))}
        </select>
        <Button kind="danger" aria-label={t.endOf(name)} onClick={() => void end()}>
          {t.end}
        </Button>
      </div>
    </div>
  )
}

const idTagForm = /^[a-z0-9-]+(\.[a-z0-9-]+)+$/i

interface NewShareProps {
  readonly files: readonly FileView[]
  readonly onShared?: () => void
}

/** Asks for a person and a role, and shares files so. */
export function NewShare({ files, onShared }: NewShareProps) {
  const t = useTexts(sharingTexts)
  const explain = useExplain()
  const [idTag, setIdTag] = useState('')
  const [permission, setPermission] = useState<SharePermission>('R')
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const share = async () => {
    const subjectId = idTag.trim().toLowerCase().replace(/^@/, '')
    if (!idTagForm.test(subjectId)) return setProblem(t.personWrong)
    setBusy(true)
    setProblem(undefined)
    try {
      const body = { subjectType: 'U', subjectId, permission } as const
      for (const { fileId } of files) await client.call(createShare, { params: { fileId }, body })
      setIdTag('')
      notify(t.shared(subjectId))
      onShared?.()
      await refreshSharing()
    } catch (error) {
      setProblem(explain(error))
    }
    setBusy(false)
  }
  return (
    <form
      class={styles.form}
      onSubmit={(event) => {
        event.preventDefault()
        if (!isBusy) void share()
      }}
    >
      <PersonField value={idTag} problem={problem} onValue={setIdTag} />
      <SelectField
        label={t.may}
        value={permission}
        options={permissions.map((value) => [value, t[value]] as const)}
        onValue={setPermission}
      />
      <Button kind="primary" type="submit" isBusy={isBusy}>
        {t.sharePerson}
      </Button>
    </form>
  )
}

interface PersonFieldProps {
  readonly value: string
  readonly problem: string | undefined
  readonly onValue: (value: string) => void
}

function PersonField({ value, problem, onValue }: PersonFieldProps) {
  const t = useTexts(sharingTexts)
  const people = useQuery(connectedPeople)
  const listId = useId()
  return (
    <>
      <Field
        label={t.person}
        hint={t.personHint}
        list={listId}
        value={value}
        problem={problem}
        autocapitalize="none"
        spellcheck={false}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
      <datalist id={listId}>
        {(people.data ?? []).map(({ idTag, name }) => (
          <option key={idTag} value={idTag}>
            {name}
          </option>
        ))}
      </datalist>
    </>
  )
}

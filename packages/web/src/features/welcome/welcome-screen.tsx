import { useQuery } from '@tanstack/preact-query'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useLocation } from 'wouter-preact'
import { LanguageChoice, PushSwitch, passkeysQuery, pushQuery } from '#features/settings/screens.ts'
import { isInstalled } from '#platform/install.ts'
import { notify } from '#platform/notices.ts'
import { canBePushed } from '#platform/push.ts'
import { session } from '#platform/session.ts'
import { Button } from '#ui/button.tsx'
import { ButtonLink } from '#ui/button-link.tsx'
import type { IconName } from '#ui/icon-names.ts'
import { QueryState } from '#ui/query-state.tsx'
import { ScreenTitle } from '#ui/screen-title.tsx'
import { useStore } from '#ui/use-store.ts'
import { useTexts } from '#ui/use-texts.ts'
import { InstallStep } from './install-step.tsx'
import { InviteStep } from './invite-step.tsx'
import { ownProfile } from './own-profile.ts'
import { PasskeyStep } from './passkey-step.tsx'
import { marked, type StepName, stepNames, stepsLeft } from './progress.ts'
import { ServerChecks } from './server-checks.tsx'
import { headingId, Step } from './step.tsx'
import { keepLeftOnDevice, useProgress } from './use-progress.ts'
import styles from './welcome.module.css'
import { welcomeTexts } from './welcome-texts.ts'
import { YouStep } from './you-step.tsx'

const icons: Readonly<Record<StepName, IconName>> = {
  you: 'user',
  passkey: 'key-round',
  invite: 'user-plus',
  install: 'smartphone',
  push: 'bell',
}

/** The first steps of a person, each of which can be skipped; for an administrator also how the server stands. */
export function WelcomeScreen() {
  const t = useTexts(welcomeTexts)
  const isAdmin = useIsAdmin()
  const steps = useSteps()
  return (
    <div class="stack">
      <ScreenTitle>{t.title}</ScreenTitle>
      <p>{t.intro}</p>
      <div class="row">
        <ButtonLink href="/new" icon="image-plus">
          {t.begin}
        </ButtonLink>
      </div>
      <QueryState query={steps.asked} heights={[320, 56, 56, 56, 56]} />
      {steps.me && <Steps {...steps} me={steps.me} isAdmin={isAdmin} />}
      <div class="card">
        <LanguageChoice />
      </div>
      {isAdmin && <ServerChecks />}
      <Leave {...steps} />
    </div>
  )
}

function useIsAdmin(): boolean {
  const present = useStore(session)
  return 'login' in present && present.login.roles.includes('SADM')
}

/** Which steps are done, by themselves or by what is proven otherwise. */
function useSteps() {
  const { progress, change, settings } = useProgress()
  const me = useQuery(ownProfile)
  const passkeys = useQuery(passkeysQuery)
  const push = useQuery({ ...pushQuery, enabled: canBePushed() })
  const installed = useStore(isInstalled)
  const hasPasskey = (passkeys.data?.length ?? 0) > 0
  const proven: StepName[] = [
    ...(me.data?.profilePic === undefined ? [] : ['you' as const]),
    ...(hasPasskey ? ['passkey' as const] : []),
    ...(installed ? ['install' as const] : []),
    ...(push.data === true ? ['push' as const] : []),
  ]
  const isKnown = settings.data !== undefined && passkeys.data !== undefined
  return {
    progress,
    change,
    hasPasskey,
    me: isKnown ? me.data : undefined,
    left: stepsLeft(progress, proven),
    isDone: (name: StepName) => progress.done.includes(name) || proven.includes(name),
    asked: [settings, me, passkeys],
  }
}
type KnownSteps = ReturnType<typeof useSteps>

interface StepsProps extends KnownSteps {
  readonly me: NonNullable<KnownSteps['me']>
  readonly isAdmin: boolean
}

function Steps({ progress, change, hasPasskey, me, left, isDone, isAdmin }: StepsProps) {
  const t = useTexts(welcomeTexts)
  const { shown, toggle, goOn } = useShownStep(left)
  const done = stepNames.filter(isDone)
  const mark = (as: 'done' | 'skipped', name: StepName) => change(marked(progress, as, name))
  const finish = (name: StepName) => {
    mark('done', name)
    goOn(name)
  }
  const leave = (name: StepName) => {
    if (!isDone(name)) mark('skipped', name)
    goOn(name)
  }
  const noteUsed = () => {
    if (!progress.done.includes('invite')) mark('done', 'invite')
  }
  const parts: Readonly<Record<StepName, () => ComponentChildren>> = {
    you: () => <YouStep me={me} onDone={() => finish('you')} />,
    passkey: () => <PasskeyStep hasOne={hasPasskey} onDone={() => finish('passkey')} />,
    invite: () => <InviteStep isAdmin={isAdmin} onUsed={noteUsed} />,
    install: () => <InstallStep />,
    push: () => <PushSwitch />,
  }
  const stateOf = (name: StepName) =>
    isDone(name) ? 'done' : progress.skipped.includes(name) ? 'skipped' : 'open'
  return (
    <div class={styles.steps}>
      {stepNames.map((name) => (
        <Step
          key={name}
          name={name}
          icon={icons[name]}
          state={stateOf(name)}
          isShown={shown === name}
          onToggle={() => toggle(name)}
          onLeave={() => leave(name)}
        >
          {shown === name && parts[name]()}
        </Step>
      ))}
      <p class="soft">
        {t.count(done.length, stepNames.length)} {left.length === 0 && t.allDone}
      </p>
    </div>
  )
}

/** Which step is open: at first the first that is left. */
function useShownStep(left: readonly StepName[]) {
  const [shown, setShown] = useState<StepName | undefined>(left[0])
  const wanted = useRef<string>()
  useEffect(() => {
    if (wanted.current !== undefined) document.getElementById(wanted.current)?.focus()
    wanted.current = undefined
  }, [shown])
  return {
    shown,
    toggle: (name: StepName) => setShown(shown === name ? undefined : name),
    /** Opens the next that is left after this one; the focus goes along. */
    goOn: (from: StepName) => {
      const others = left.filter((name) => name !== from)
      const next = others.find((name) => stepNames.indexOf(name) > stepNames.indexOf(from)) ?? others[0]
      wanted.current = next === undefined ? headingId(from) : headingId(next)
      setShown(next)
    },
  }
}

function Leave({ progress, change, left, me }: KnownSteps) {
  const t = useTexts(welcomeTexts)
  const [, navigate] = useLocation()
  const isSettled = progress.isAside || left.length === 0
  useEffect(() => {
    if (me) keepLeftOnDevice(isSettled ? 0 : left.length)
  }, [me, isSettled, left.length])
  const putAside = () => {
    change({ ...progress, isAside: true })
    keepLeftOnDevice(0)
    notify(t.isAside)
    navigate('/')
  }
  return (
    <div class="row">
      <ButtonLink kind="primary" href="/" icon="house">
        {t.toHome}
      </ButtonLink>
      {!isSettled && (
        <Button kind="quiet" onClick={putAside}>
          {t.putAside}
        </Button>
      )}
    </div>
  )
}

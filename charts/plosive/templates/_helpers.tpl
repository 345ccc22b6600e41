{{- define "plosive.name" -}}
{{- if contains "plosive" .Release.Name -}}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{- else -}}{{ printf "%s-plosive" .Release.Name | trunc 40 | trimSuffix "-" }}{{- end -}}
{{- end -}}

{{- define "plosive.labels" -}}
app.kubernetes.io/name: plosive
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- /* Labels that select the pods of one component: (list context "api") */ -}}
{{- define "plosive.selector" -}}
app.kubernetes.io/name: plosive
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{- define "plosive.serverImage" -}}
{{ required "images.server: build images/server/Dockerfile, push it and give its full reference" .Values.images.server }}
{{- end -}}

{{- define "plosive.databaseSecret" -}}
{{ .Values.database.existingSecret | default (printf "%s-database" (include "plosive.name" .)) }}
{{- end -}}

{{- /* The key of the database Secret with the URL for "owner", "api" or "operator": (list context "api") */ -}}
{{- define "plosive.databaseMember" -}}
{{- $keys := dict "owner" "url" "api" "api-url" "operator" "operator-url" }}
{{- with (index . 0).Values.database }}
{{- if .existingSecret }}{{- $keys = .secretKeys }}{{- end }}
{{- end }}
{{- index $keys (index . 1) }}
{{- end -}}

{{- /* Not empty if the chart runs the object store itself. */ -}}
{{- define "plosive.embeddedObjectStore" -}}
{{- if not (or .Values.objectStore.existingSecret .Values.objectStore.workloadIdentity) }}true{{ end }}
{{- end -}}

{{- define "plosive.objectStoreSecret" -}}
{{ .Values.objectStore.existingSecret | default (printf "%s-object-store" (include "plosive.name" .)) }}
{{- end -}}

{{- define "plosive.webhooksSecret" -}}
{{ .Values.api.webhooks.existingSecret | default (printf "%s-webhooks" (include "plosive.name" .)) }}
{{- end -}}

{{- define "plosive.firstKeySecret" -}}
{{ .Values.bootstrap.existingSecret | default (printf "%s-initial-api-key" .Release.Name) }}
{{- end -}}

{{- /* Who issues the certificate of the run endpoint: chart, cert-manager, or somebody else (existing). */ -}}
{{- define "plosive.certificateIssuer" -}}
{{- with .Values.runs.certificate }}
{{- if and .existingSecret .certManager.issuerRef }}{{ fail "runs.certificate: set existingSecret or certManager.issuerRef, not both" }}{{ end }}
{{- if .existingSecret }}existing{{ else if .certManager.issuerRef }}cert-manager{{ else }}chart{{ end }}
{{- end }}
{{- end -}}

{{- /* cert-manager gets a Secret of its own: it cannot change the type of the chart's. */ -}}
{{- define "plosive.certificateSecret" -}}
{{- $own := printf "%s-%s" (include "plosive.name" .) (ternary "runs-issued" "runs-certificate" (eq (include "plosive.certificateIssuer" .) "cert-manager")) }}
{{- .Values.runs.certificate.existingSecret | default $own }}
{{- end -}}

{{- define "plosive.authoritiesConfigMap" -}}
{{ .Values.runs.certificate.existingConfigMap | default (printf "%s-runs-ca" (include "plosive.name" .)) }}
{{- end -}}

{{- define "plosive.runsHost" -}}
{{ include "plosive.name" . }}-operator.{{ .Release.Namespace }}.svc
{{- end -}}

{{- define "plosive.objectStoreEndpoint" -}}
{{- if and .Values.objectStore.workloadIdentity .Values.objectStore.existingSecret -}}
{{ fail "objectStore.workloadIdentity: leave objectStore.existingSecret empty, or set workloadIdentity to false" }}
{{- end -}}
{{- if and (eq (.Values.objectStore.addressing | default "path") "virtual") (include "plosive.embeddedObjectStore" .) -}}
{{ fail "objectStore.addressing: the embedded server supports only path; virtual needs an S3 server of your own (objectStore.existingSecret or objectStore.workloadIdentity, and objectStore.endpoint)" }}
{{- end -}}
{{- if .Values.objectStore.endpoint -}}
{{ .Values.objectStore.endpoint }}
{{- else if not (include "plosive.embeddedObjectStore" .) -}}
{{ fail "objectStore.endpoint: give the address of the S3 server that objectStore.existingSecret or objectStore.workloadIdentity belongs to" }}
{{- else -}}
http://{{ include "plosive.name" . }}-object-store.{{ .Release.Namespace }}.svc:9000
{{- end -}}
{{- end -}}

{{- /* Metadata of pods: (list context "api" .Values.api) and, if they start anew for something else, annotations. Labels that
     select the pods cannot be overwritten. */ -}}
{{- define "plosive.podMetadata" -}}
{{- $context := index . 0 }}{{- $values := index . 2 }}
{{- $labels := include "plosive.selector" . | fromYaml -}}
labels: {{ merge $labels ($values.podLabels | default dict) ($context.Values.commonLabels | default dict) | toYaml | nindent 2 }}
{{- $own := dict }}
{{- if gt (len .) 3 }}{{- $own = index . 3 }}{{- end }}
{{- with merge $own ($values.podAnnotations | default dict) }}
annotations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- /* Where pods run: .Values.api */ -}}
{{- define "plosive.scheduling" -}}
{{- with .nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end -}}

{{- /* Over zones and nodes, where possible, unless the values say otherwise: (list context "api" .Values.api) */ -}}
{{- define "plosive.spread" -}}
topologySpreadConstraints:
  {{- with (index . 2).topologySpreadConstraints }}
  {{- toYaml . | nindent 2 }}
  {{- else }}
  {{- range $key := list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - maxSkew: 1
    topologyKey: {{ $key }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{ include "plosive.selector" $ | nindent 8 }}
    matchLabelKeys: [pod-template-hash]
  {{- end }}
  {{- end }}
{{- end -}}

{{- define "plosive.podSecurity" -}}
runAsNonRoot: true
{{- if not .Values.arbitraryUserIds }}
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
{{- end }}
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "plosive.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{- /* Environment of every process that uses the database and the object store. */ -}}
{{- define "plosive.env" -}}
- { name: PLOSIVE_DATABASE_URL_FILE, value: /etc/plosive/database/url }
- { name: PLOSIVE_S3_ENDPOINT, value: {{ include "plosive.objectStoreEndpoint" . | quote }} }
{{- with .Values.objectStore.publicEndpoint }}
- { name: PLOSIVE_S3_PUBLIC_ENDPOINT, value: {{ . | quote }} }
{{- end }}
- { name: PLOSIVE_S3_ADDRESSING, value: {{ .Values.objectStore.addressing | default "path" | quote }} }
- { name: PLOSIVE_S3_REGION, value: {{ .Values.objectStore.region | quote }} }
- { name: PLOSIVE_S3_BUCKET, value: {{ .Values.objectStore.bucket | quote }} }
{{- if not .Values.objectStore.workloadIdentity }}
- { name: PLOSIVE_S3_ACCESS_KEY_ID_FILE, value: /etc/plosive/object-store/access-key-id }
- { name: PLOSIVE_S3_SECRET_ACCESS_KEY_FILE, value: /etc/plosive/object-store/secret-access-key }
{{- end }}
- { name: PLOSIVE_NAMESPACE, value: {{ .Release.Namespace | quote }} }
- { name: PLOSIVE_INSTALLATION, value: {{ .Values.installation | default (printf "%s/%s" .Release.Namespace .Release.Name) | quote }} }
{{- if .Values.caBundle.configMap }}
- { name: NODE_EXTRA_CA_CERTS, value: /etc/plosive/ca/ca.crt }
{{- end }}
{{- end -}}

{{- define "plosive.mounts" -}}
- { name: database, mountPath: /etc/plosive/database, readOnly: true }
{{- if not .Values.objectStore.workloadIdentity }}
- { name: object-store, mountPath: /etc/plosive/object-store, readOnly: true }
{{- end }}
- { name: tmp, mountPath: /tmp }
{{- if .Values.caBundle.configMap }}
- { name: ca, mountPath: /etc/plosive/ca, readOnly: true }
{{- end }}
{{- end -}}

{{- /* Volumes for these mounts, with the database URL of one user only: (list context "api") */ -}}
{{- define "plosive.volumes" -}}
{{- $context := index . 0 }}
- name: database
  secret:
    secretName: {{ include "plosive.databaseSecret" $context }}
    items: [{ key: {{ include "plosive.databaseMember" . }}, path: url }]
{{- if not $context.Values.objectStore.workloadIdentity }}
- name: object-store
  secret: { secretName: {{ include "plosive.objectStoreSecret" $context }} }
{{- end }}
- name: tmp
  emptyDir: { sizeLimit: 256Mi }
{{- with $context.Values.caBundle }}
{{- if .configMap }}
- name: ca
  configMap: { name: {{ .configMap }}, items: [{ key: {{ .key }}, path: ca.crt }] }
{{- end }}
{{- end }}
{{- end -}}

{{- /* What the API, which encrypts the secrets of webhooks, and the operator, which sends, both need. */ -}}
{{- define "plosive.webhooksEnv" -}}
- { name: PLOSIVE_WEBHOOK_ALLOWED_ORIGINS, value: {{ join "," .Values.api.webhooks.allowedOrigins | quote }} }
- { name: PLOSIVE_WEBHOOK_SECRET_KEY_FILE, value: /etc/plosive/webhooks/secret-key }
{{- end -}}

{{- define "plosive.tracingEnv" -}}
{{- with .Values.tracing }}
{{- if .endpoint }}
- { name: PLOSIVE_OTLP_ENDPOINT, value: {{ .endpoint | quote }} }
- { name: PLOSIVE_TRACE_RATIO, value: {{ .ratio | quote }} }
{{- end }}
{{- end }}
{{- end -}}

{{- define "plosive.webhooksVolume" -}}
- name: webhooks
  secret: { secretName: {{ include "plosive.webhooksSecret" . }} }
{{- end -}}

{{- define "plosive.dns" -}}
{{- with .Values.networkPolicy.dns }}
to: {{ toYaml . | nindent 2 }}
{{- end }}
ports: [{{ range $i, $port := .Values.networkPolicy.ports.dns }}{{ if $i }}, {{ end }}{ port: {{ $port }}, protocol: UDP }, { port: {{ $port }}, protocol: TCP }{{ end }}]
{{- end -}}

{{- /* TCP ports, as in a policy. */ -}}
{{- define "plosive.tcpPorts" -}}
ports: [{{ range $i, $port := . }}{{ if $i }}, {{ end }}{ port: {{ $port }}, protocol: TCP }{{ end }}]
{{- end -}}

{{- /* Any address but the cloud's metadata service. */ -}}
{{- define "plosive.anyAddress" -}}
- ipBlock: { cidr: 0.0.0.0/0, except: [169.254.0.0/16] }
- ipBlock: { cidr: "::/0", except: ["fe80::/10", "fd00:ec2::254/128"] }
{{- end -}}

{{- /* DNS is a rule of its own, because some clouds serve it from an address that is excepted below. */ -}}
{{- define "plosive.egress" -}}
- {{- include "plosive.dns" . | nindent 2 }}
- to:
    - namespaceSelector: {}
    {{- include "plosive.anyAddress" . | nindent 4 }}
{{- end -}}

{{- define "plosive.pullSecrets" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- /* Whether Kueue decides about jobs: on, off or auto. The operator gets permissions for Kueue unless it is off. */ -}}
{{- define "plosive.kueue" -}}
{{- get (dict "always" "on" "auto" "auto" "never" "off") .Values.operator.queueing.kueue }}
{{- end }}

{{- /* The worker profiles with all defaults filled in, as the operator reads them. */ -}}
{{- define "plosive.profiles" -}}
{{- $common := dict "imagePullPolicy" .Values.imagePullPolicy }}
{{- if .Values.arbitraryUserIds }}{{- $_ := set $common "arbitraryUserId" true }}{{- end }}
{{- if .Values.caBundle.configMap }}
{{- $_ := set $common "storeCa" (dict "configMap" .Values.caBundle.configMap "key" .Values.caBundle.key) }}
{{- end }}
{{- /* The operator gives its pods these labels itself. */ -}}
{{- $labels := dict }}
{{- range $key, $value := .Values.commonLabels }}
{{- if not (regexMatch "^(app\\.kubernetes\\.io|batch\\.kubernetes\\.io|plosive\\.dev)/" $key) }}{{- $_ := set $labels $key $value }}{{- end }}
{{- end }}
{{- $profiles := dict }}
{{- range $profile, $verbs := .Values.profiles }}
{{- $filled := dict }}
{{- range $verb := list "embed" "train" "detect" }}
{{- $target := ternary "trainer" "worker" (eq $verb "train") }}
{{- $own := index (default dict $verbs) $verb | default (index $.Values.profiles.default $verb) }}
{{- $image := required (printf "images.%s: build images/worker/Dockerfile (target %s) and give its full reference" $target $target) ($own.image | default (index $.Values.images $target)) }}
{{- $labels := merge (dict) ($own.labels | default dict) $labels }}
{{- $settings := merge (dict "image" $image) $own $common }}
{{- if $labels }}{{- $_ := set $settings "labels" $labels }}{{- end }}
{{- $_ := set $filled $verb $settings }}
{{- end }}
{{- $_ := set $profiles $profile $filled }}
{{- end }}
{{- toPrettyJson $profiles }}
{{- end }}

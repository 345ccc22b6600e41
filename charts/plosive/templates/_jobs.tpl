{{- /* The pods of the chart's jobs, as templates, because the name of a Job contains a hash of its pod. */ -}}

{{- /* (list context pod) */ -}}
{{- define "plosive.jobSuffix" -}}
{{- printf "%d %s" (index . 0).Release.Revision (index . 1) | sha256sum | trunc 8 -}}
{{- end -}}

{{- /* JSON for src/secrets.ts: what the secrets job makes. */ -}}
{{- define "plosive.secretsSettings" -}}
{{- $name := include "plosive.name" . }}
{{- $settings := dict "namespace" .Release.Namespace }}
{{- if not .Values.database.existingSecret }}
{{- $_ := set $settings "database" (dict "secret" (include "plosive.databaseSecret" .) "address" (printf "%s-database.%s.svc:5432/plosive" $name .Release.Namespace)) }}
{{- end }}
{{- if include "plosive.embeddedObjectStore" . }}
{{- $_ := set $settings "objectStore" (dict "secret" (include "plosive.objectStoreSecret" .)) }}
{{- end }}
{{- if not .Values.api.webhooks.existingSecret }}
{{- $_ := set $settings "webhooks" (dict "secret" (include "plosive.webhooksSecret" .)) }}
{{- end }}
{{- if eq (include "plosive.certificateIssuer" .) "chart" }}
{{- $_ := set $settings "certificate" (dict "secret" (include "plosive.certificateSecret" .) "host" (include "plosive.runsHost" .)) }}
{{- end }}
{{- if not .Values.runs.certificate.existingConfigMap }}
{{- $_ := set $settings "authorities" (dict "secret" (include "plosive.certificateSecret" .) "configMap" (include "plosive.authoritiesConfigMap" .)) }}
{{- end }}
{{- toJson $settings }}
{{- end -}}

{{- define "plosive.secretsPod" -}}
metadata: {{ include "plosive.podMetadata" (list . "secrets" .Values.jobs) | nindent 2 }}
spec:
  restartPolicy: OnFailure
  serviceAccountName: {{ include "plosive.name" . }}-secrets
  {{- include "plosive.secretsContainer" (list . "src/secrets.ts" (include "plosive.secretsSettings" . | fromJson)) | nindent 2 }}
      volumeMounts:
        - { name: tmp, mountPath: /tmp }
        {{- with .Values.jobs.extraVolumeMounts }}{{ toYaml . | nindent 8 }}{{- end }}
  volumes:
    - { name: tmp, emptyDir: { sizeLimit: 256Mi } }
    {{- with .Values.jobs.extraVolumes }}{{ toYaml . | nindent 4 }}{{- end }}
{{- end -}}

{{- /* The end of a pod that runs a file with settings as its argument: (list context "src/secrets.ts" settings) */ -}}
{{- define "plosive.secretsContainer" -}}
{{- $context := index . 0 -}}
enableServiceLinks: false
{{- include "plosive.scheduling" $context.Values.jobs | nindent 0 }}
{{- include "plosive.pullSecrets" $context | nindent 0 }}
securityContext: {{ include "plosive.podSecurity" $context | nindent 2 }}
containers:
  - name: secrets
    image: {{ include "plosive.serverImage" $context }}
    imagePullPolicy: {{ $context.Values.imagePullPolicy }}
    args: [{{ index . 1 }}, {{ index . 2 | toJson | quote }}]
    securityContext: {{ include "plosive.containerSecurity" $context | nindent 6 }}
    {{- with $context.Values.jobs.extraEnv }}
    env: {{ toYaml . | nindent 6 }}
    {{- end }}
    resources: {{ toYaml $context.Values.jobs.resources | nindent 6 }}
{{- end -}}

{{- define "plosive.bootstrapPod" -}}
{{- $logins := dict }}
{{- range $login := list "api" "operator" }}
{{- $member := include "plosive.databaseMember" (list $ $login) }}
{{- if ne $member (include "plosive.databaseMember" (list $ "owner")) }}{{- $_ := set $logins $login $member }}{{- end }}
{{- end }}
metadata: {{ include "plosive.podMetadata" (list . "bootstrap" .Values.jobs) | nindent 2 }}
spec:
  restartPolicy: OnFailure
  serviceAccountName: {{ include "plosive.name" . }}-bootstrap
  enableServiceLinks: false
  {{- include "plosive.scheduling" .Values.jobs | nindent 2 }}
  {{- include "plosive.pullSecrets" . | nindent 2 }}
  securityContext: {{ include "plosive.podSecurity" . | nindent 4 }}
  containers:
    - name: bootstrap
      image: {{ include "plosive.serverImage" . }}
      imagePullPolicy: {{ .Values.imagePullPolicy }}
      args: [src/bootstrap.ts]
      securityContext: {{ include "plosive.containerSecurity" . | nindent 8 }}
      env:
        {{- include "plosive.env" . | nindent 8 }}
        {{- range $login := keys $logins | sortAlpha }}
        - { name: PLOSIVE_{{ upper $login }}_DATABASE_URL_FILE, value: /etc/plosive/database-logins/{{ $login }}-url }
        {{- end }}
        {{- if .Values.bootstrap.enabled }}
        - { name: PLOSIVE_BOOTSTRAP_SECRET, value: {{ include "plosive.firstKeySecret" . }} }
        {{- end }}
        {{- with .Values.jobs.extraEnv }}{{ toYaml . | nindent 8 }}{{- end }}
      resources: {{ toYaml .Values.jobs.resources | nindent 8 }}
      volumeMounts:
        {{- include "plosive.mounts" . | nindent 8 }}
        {{- if $logins }}
        - { name: database-logins, mountPath: /etc/plosive/database-logins, readOnly: true }
        {{- end }}
        {{- with .Values.jobs.extraVolumeMounts }}{{ toYaml . | nindent 8 }}{{- end }}
  volumes:
    {{- include "plosive.volumes" (list . "owner") | nindent 4 }}
    {{- if $logins }}
    - name: database-logins
      secret:
        secretName: {{ include "plosive.databaseSecret" . }}
        items:
          {{- range $login, $member := $logins }}
          - { key: {{ $member }}, path: {{ $login }}-url }
          {{- end }}
    {{- end }}
    {{- with .Values.jobs.extraVolumes }}{{ toYaml . | nindent 4 }}{{- end }}
{{- end }}

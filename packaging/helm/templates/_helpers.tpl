{{- define "hirebridge.labels" -}}
app.kubernetes.io/name: hirebridge
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .part }}
{{- end }}

{{- define "hirebridge.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* What every pod has: not root, nothing writable but the data directory and /tmp. */}}
{{- define "hirebridge.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "hirebridge.container" -}}
image: {{ include "hirebridge.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end }}

{{- define "hirebridge.env" -}}
- name: HIREBRIDGE_STORE_URL
  valueFrom:
    secretKeyRef: { name: {{ .store | default (required "store.secretName names the Secret with the store's address" .root.Values.store.secretName) }}, key: url }
- { name: HIREBRIDGE_DATA, value: /data }
- { name: HIREBRIDGE_TENANTS, value: /etc/hirebridge/tenants }
- { name: HIREBRIDGE_HOST, value: 0.0.0.0 }
- { name: HIREBRIDGE_HEALTH_HOST, value: 0.0.0.0 }
- { name: LOG_FORMAT, value: json }
{{- /* The others need no Temporal, and get no key of it. */}}
{{- if has .part (list "worker" "console") }}
- name: TEMPORAL_ADDRESS
  value: {{ required "temporal.address names the Temporal server" .root.Values.temporal.address | quote }}
- name: TEMPORAL_NAMESPACE
  value: {{ .root.Values.temporal.namespace | quote }}
{{- with .root.Values.temporal.apiKeySecretName }}
- name: TEMPORAL_API_KEY
  valueFrom:
    secretKeyRef: { name: {{ . }}, key: api-key }
{{- end }}
{{- if .root.Values.temporal.tlsSecretName }}
- { name: TEMPORAL_TLS_CLIENT_CERT_PATH, value: /etc/hirebridge/temporal/tls.crt }
- { name: TEMPORAL_TLS_CLIENT_KEY_PATH, value: /etc/hirebridge/temporal/tls.key }
{{- if .root.Values.temporal.tlsServerCa }}
- { name: TEMPORAL_TLS_SERVER_CA_CERT_PATH, value: /etc/hirebridge/temporal/ca.crt }
{{- end }}
{{- end }}
{{- end }}
{{- range $name, $value := .root.Values.env }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}

{{/* The volume of the secrets; of `serve`, which is reached from outside, that of the webhook keys if it has its own. */}}
{{- define "hirebridge.secrets" -}}
{{- with .root.Values.secrets }}
{{- if and (eq $.part "serve") .receiverSecretName -}}
secret: { secretName: {{ .receiverSecretName }}, defaultMode: 0440 }
{{- else if .volume -}}
{{ toYaml .volume }}
{{- else if .secretName -}}
secret: { secretName: {{ .secretName }}, defaultMode: 0440 }
{{- end }}
{{- end }}
{{- end }}

{{- define "hirebridge.mounts" -}}
- { name: data, mountPath: /data }
- { name: tmp, mountPath: /tmp }
{{- /* The migration reads the store's address and nothing else. */}}
{{- if ne .part "migrate" }}
- { name: tenants, mountPath: /etc/hirebridge/tenants, readOnly: true }
{{- if include "hirebridge.secrets" . }}
- { name: secrets, mountPath: /etc/hirebridge/secrets, readOnly: true }
{{- end }}
{{- end }}
{{- if and .root.Values.temporal.tlsSecretName (has .part (list "worker" "console")) }}
- { name: temporal, mountPath: /etc/hirebridge/temporal, readOnly: true }
{{- end }}
{{- end }}

{{- define "hirebridge.volumes" -}}
{{- $part := .part }}
{{- with .root }}
- name: data
{{- if and .Values.data.volume (has $part (list "worker" "console")) }}
{{- toYaml .Values.data.volume | nindent 2 }}
{{- else }}
  emptyDir: {}
{{- end }}
- { name: tmp, emptyDir: {} }
{{- if ne $part "migrate" }}
- name: tenants
{{- if .Values.tenants.volume }}
{{- toYaml .Values.tenants.volume | nindent 2 }}
{{- else }}
  configMap: { name: {{ required "tenants.configMapName or tenants.volume says where the tenant files are" .Values.tenants.configMapName }} }
{{- end }}
{{- with include "hirebridge.secrets" (dict "root" . "part" $part) }}
- name: secrets
{{- . | nindent 2 }}
{{- end }}
{{- end }}
{{- if and .Values.temporal.tlsSecretName (has $part (list "worker" "console")) }}
- name: temporal
  secret: { secretName: {{ .Values.temporal.tlsSecretName }}, defaultMode: 0440 }
{{- end }}
{{- end }}
{{- end }}

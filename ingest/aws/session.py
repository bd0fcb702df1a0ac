"""Clients of AWS, made alike for every service: credentials, role, region, retries and timeouts.

Credentials are found by the SDK's own chain (variables, profile, container, instance). A role is assumed where one is
configured, and assumed again before its credentials expire, since a night may outlast the hour that they are given.
boto3 is imported when the first client is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload
from urllib.parse import urlsplit

from ingest.source import AwsAccess, SourceSettings

if TYPE_CHECKING:
    import boto3
    from botocore.config import Config
    from botocore.session import Session as CoreSession
    from mypy_boto3_ce import CostExplorerClient
    from mypy_boto3_organizations import OrganizationsClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sts import STSClient

Service = Literal["s3", "sts", "ce", "organizations"]
CONNECTIONS = 32
"""Connections that a client keeps open at most, and so the most requests that it should be given at once."""
SESSION_NAME = "overrun"
_GLOBAL_SERVICES = ("ce", "organizations")
"""Services that live in one region of their partition."""
_AWS_DOMAINS = (".amazonaws.com", ".amazonaws.com.cn")
_HOME_REGION = "us-east-1"
_HOME_REGION_OF_CHINA = "cn-northwest-1"


@overload
def client(settings: SourceSettings, service: Literal["s3"]) -> S3Client: ...
@overload
def client(settings: SourceSettings, service: Literal["sts"]) -> STSClient: ...
@overload
def client(settings: SourceSettings, service: Literal["ce"]) -> CostExplorerClient: ...
@overload
def client(settings: SourceSettings, service: Literal["organizations"]) -> OrganizationsClient: ...
def client(settings: SourceSettings, service: Service) -> Any:
    """Return a client of `service` as a source is configured; it may be used by several threads.

    Nothing is sent before the first call. Raises botocore's errors (a profile that is not there), for
    `ingest.aws.errors` to explain.
    """
    access = settings.access
    session = _session(access)
    region = session.region_name or _HOME_REGION
    if service in _GLOBAL_SERVICES:
        region = _HOME_REGION_OF_CHINA if region.startswith("cn-") else _HOME_REGION
    endpoint_url = endpoint_of(access, service)
    return session.client(service, region_name=region, endpoint_url=endpoint_url, config=_config(access))


def endpoint_of(access: AwsAccess, service: str) -> str | None:
    """Return where `service` is asked: at the configured address, None at AWS's own.

    An address of AWS that serves S3 alone, such as that of an interface endpoint, is for S3 alone. Sources: AWS General
    Reference, Amazon S3 endpoints; Amazon S3 user guide, "AWS PrivateLink for Amazon S3".
    """
    if access.endpoint_url is None or service == "s3":
        return access.endpoint_url
    host = (urlsplit(access.endpoint_url).hostname or "").rstrip(".")
    is_s3 = any(label == "s3" or label.startswith("s3-") for label in host.split("."))
    return None if is_s3 and host.endswith(_AWS_DOMAINS) else access.endpoint_url


def assume_role(settings: SourceSettings) -> None:
    """Assume the role of a source once, for nothing but to see that it can be; raises botocore's errors."""
    credentials = _session(settings.access).get_credentials()
    if credentials is not None:
        credentials.get_frozen_credentials()


def _session(access: AwsAccess) -> boto3.Session:
    """Return a session that has the role's credentials, or those that the SDK finds where there is no role."""
    import boto3

    if access.role_arn is None:
        return boto3.Session(botocore_session=_core_session(access))
    return boto3.Session(botocore_session=_with_role(access, access.role_arn))


def _core_session(access: AwsAccess) -> CoreSession:
    """Return a session of the configured profile and region; raises ProfileNotFound."""
    from botocore.session import Session as CoreSession

    session = CoreSession(profile=access.profile)
    session.get_scoped_config()
    if access.region is not None:
        session.set_config_variable("region", access.region)
    return session


def _with_role(access: AwsAccess, role_arn: str) -> CoreSession:
    """Return a session whose credentials are those of the role, asked for when first needed and renewed in time."""
    from botocore.credentials import (
        AssumeRoleCredentialFetcher,
        CredentialProvider,
        CredentialResolver,
        DeferredRefreshableCredentials,
    )
    from botocore.exceptions import NoCredentialsError

    base = _core_session(access)

    def make_client(service: str, **credentials: Any) -> Any:  # noqa: ANN401 - botocore's own
        return base.create_client(
            service,
            region_name=base.get_config_variable("region") or _HOME_REGION,
            endpoint_url=endpoint_of(access, service),
            config=_config(access),
            **credentials,
        )

    class RoleProvider(CredentialProvider):
        METHOD = "assume-role"

        def load(self) -> DeferredRefreshableCredentials:
            found = base.get_credentials()
            if found is None:
                raise NoCredentialsError
            extra = {"RoleSessionName": SESSION_NAME}
            if access.external_id is not None:
                extra["ExternalId"] = access.external_id
            fetcher = AssumeRoleCredentialFetcher(make_client, found, role_arn, extra_args=extra)
            return DeferredRefreshableCredentials(refresh_using=fetcher.fetch_credentials, method=self.METHOD)

    session = _core_session(access)
    session.register_component("credential_provider", CredentialResolver([RoleProvider()]))
    return session


def _config(access: AwsAccess) -> Config:
    """Return what every client has in common.

    Path-style addresses at an endpoint of one's own, since such a host seldom answers for `bucket.host`. Bodies are
    checked where they are fetched, against size and ETag.
    """
    from botocore.config import Config

    return Config(
        retries={"mode": "standard", "total_max_attempts": access.patience.attempts},
        connect_timeout=access.patience.connect_seconds,
        read_timeout=access.patience.read_seconds,
        max_pool_connections=CONNECTIONS,
        user_agent_extra="overrun",
        response_checksum_validation="when_required",
        s3={"addressing_style": "auto" if access.endpoint_url is None else "path"},
    )

# 记得的镜像：非 root 用户，数据在 /srv/jide/data（请挂载一个卷）。
FROM python:3.12-slim-bookworm

RUN useradd --create-home --uid 10001 jide && mkdir -p /srv/jide && chown jide /srv/jide
USER jide
WORKDIR /srv/jide/source
COPY --chown=jide . .
RUN sh deploy/install-image.sh /srv/jide

WORKDIR /srv/jide
ENV PATH=/srv/jide/venv/bin:$PATH HOST=0.0.0.0 PORT=8080 PYTHONUNBUFFERED=1
VOLUME /srv/jide/data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=6s --start-period=20s CMD ["python", "/srv/jide/source/deploy/healthcheck.py"]
CMD ["jide", "run"]

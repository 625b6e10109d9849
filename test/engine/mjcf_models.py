"""Models for MuJoCo that tests of several parts use."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import trimesh

EVERYTHING = """
<mujoco model="everything">
  <compiler angle="degree" eulerseq="XYz" boundmass="0.01" boundinertia="1e-4" inertiafromgeom="auto" meshdir="parts"/>
  <option timestep="0.004" gravity="0.1 -0.2 -5"/>
  <asset><mesh name="wedge" file="wedge.obj" scale="0.1 0.2 -0.3"/><material name="blue" rgba="0 0 1 0.5"/></asset>
  <default>
    <joint damping="0.2" armature="0.03"/>
    <geom density="700" rgba="0.1 0.2 0.3 1"/>
    <default class="arm"><joint damping="0.5" range="-40 80"/><geom size="0.04" material="blue"/>
      <default class="hand"><geom density="300"/></default></default>
    <motor ctrlrange="-2 3" ctrllimited="true"/>
  </default>
  <worldbody>
    <geom type="plane" size="5 5 1" pos="0 0 -2"/>
    <geom type="box" size="0.1 0.2 0.3" pos="4 0 0" axisangle="1 1 0 30"/>
    <body name="pedestal" pos="0 0 1" euler="10 20 30">
      <geom type="cylinder" size="0.2 0.1"/>
      <body name="upper" pos="0.1 0 0.2" childclass="arm" xyaxes="0 1 0 -1 0 0.2">
        <joint name="shoulder" type="ball" pos="0.02 0.03 -0.01" range="0 120" stiffness="3"/>
        <geom type="capsule" fromto="0 0 0 0.1 0.2 0.5"/>
        <geom type="box" fromto="0 0 0 0.3 0 0.1" size="0.03"/>
        <frame pos="0 0.1 0.5" axisangle="0 0 1 90">
          <body name="fore" pos="0.1 0 0" zaxis="1 1 1">
            <joint name="slide" type="slide" axis="1 2 0" ref="0.3" springref="0.1" stiffness="20" range="-1 1" pos="1 1 1"/>
            <joint name="twist" axis="0 1 1" pos="0.1 0.2 0.1" ref="20" springref="-10" stiffness="2"/>
            <inertial pos="0.01 0.02 0.03" quat="1 1 0 0" mass="0.8" diaginertia="0.01 0.02 0.015"/>
            <geom type="sphere" pos="0 0 0.3"/>
            <body name="palm" pos="0 0 0.3"><geom class="hand" type="ellipsoid" size="0.1 0.05 0.03" quat="1 0.2 0.3 0.4"/></body>
            <body name="finger" pos="0 0 0.4"><joint name="curl" type="hinge" axis="1 0 0" class="hand"/>
              <inertial pos="0 0 0.1" mass="0.1" fullinertia="0.003 0.004 0.005 0.0001 0.0002 -0.0003"/></body>
          </body>
        </frame>
      </body>
    </body>
    <body name="drone" pos="1 2 3" quat="0.8 0 0.6 0">
      <freejoint name="fly"/>
      <geom type="mesh" mesh="wedge" pos="0.1 0 0" euler="30 0 0"/>
      <body name="rotor" pos="0 0 0.2"><joint name="spin" axis="0 0 1" damping="0.01"/>
        <geom type="box" size="0.3 0.02 0.01" mass="0.2"/></body>
    </body>
  </worldbody>
  <actuator>
    <motor joint="twist" gear="5" name="twist_motor"/>
    <motor joint="spin" gear="0.5" ctrllimited="false"/>
    <general joint="slide" gear="2" gainprm="3" forcerange="-4 4" ctrlrange="-10 10"/>
  </actuator>
</mujoco>"""

DRIVES = """<mujoco><compiler angle="radian"/><default><geom contype="0" conaffinity="0"/><joint armature="0.1"/></default><worldbody>
  <site name="anchor" pos="0.1 -0.5 1.4" euler="0.3 0.2 -0.4"/>
  <body name="top" pos="0.1 0 1" euler="0.2 0.1 0.5">{base}
    <geom type="box" size="0.2 0.1 0.1"/><site name="t1" pos="0.1 0.15 0.1"/><site name="t2" pos="-0.1 0.2 0.12"/>
    <body name="a" pos="0.2 0 0"><joint name="hinge" axis="0 1 0.2" ref="0.1"/>
      <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03"/>
      <geom name="ball" size="0.06" pos="0.15 0.05 0.02" mass="0"/>
      <site name="s1" pos="0.1 0.05 0.07" euler="0.5 -0.2 0.1"/><site name="s2" pos="0.25 0 0.1"/>
      <body name="b" pos="0.3 0 0"><joint name="ball" type="ball" pos="0.01 0.02 0"/>
        <geom type="capsule" fromto="0 0 0 0.2 0.1 0" size="0.03"/>
        <geom name="roll" type="cylinder" size="0.05 0.1" pos="0.1 0 0" euler="0.3 0.1 0" mass="0"/>
        <site name="s3" pos="0.1 0 0.08"/><site name="in" pos="0.1 0.01 0.01"/>
        <body name="tip" pos="0.2 0 0"><geom size="0.05"/><site name="s4" pos="0.1 -0.02 0" euler="1 0.5 0"/></body>
      </body></body>
    <body name="c" pos="-0.2 0 0"><joint name="slide" type="slide" axis="1 0 1"/><joint name="last" axis="0 0 1"/>
      <geom type="capsule" fromto="0 0 0 -0.3 0 0" size="0.04"/><site name="s5" pos="-0.2 0.02 0.05"/></body>
  </body></worldbody>
  <tendon>{tendons}</tendon><actuator>{actuators}</actuator></mujoco>"""

ROUTES = {
    "straight": '<spatial name="w"><site site="anchor"/><site site="s2"/><site site="s5"/></spatial>',
    "sphere": '<spatial name="w"><site site="t1"/><geom geom="ball"/><site site="s3"/><site site="s4"/></spatial>',
    "sphere beside a site": '<spatial name="w"><site site="t1"/><geom geom="ball" sidesite="s1"/><site site="s3"/></spatial>',
    "cylinder": '<spatial name="w"><site site="anchor"/><geom geom="roll"/><site site="s5"/></spatial>',
    "cylinder beside a site": '<spatial name="w"><site site="s2"/><geom geom="roll" sidesite="s3"/><site site="s5"/></spatial>',
    "through a cylinder": '<spatial name="w"><site site="s2"/><geom geom="roll" sidesite="in"/><site site="s5"/></spatial>',
    "pulleys": '<spatial name="w"><site site="t2"/><site site="s1"/><pulley divisor="2"/><site site="s1"/>'
    '<geom geom="roll"/><site site="s4"/><pulley divisor="3"/><site site="s3"/><site site="s5"/></spatial>',
}  # fmt: skip
FIXED = '<fixed name="w"><joint joint="hinge" coef="0.7"/><joint joint="slide" coef="-1.3"/></fixed>'

LAWS = {
    "motor": '<motor {} gear="{}" ctrlrange="-0.5 0.5"/>',
    "control zero is clamped, too": '<motor {} gear="{}" ctrlrange="0.5 1"/>',
    "position": '<position {} gear="{}" kp="20" kv="0.5" forcerange="-3 2"/>',
    "position with a filter": '<position {} gear="{}" kp="20" timeconst="0.1"/>',
    "velocity": '<velocity {} gear="{}" kv="4"/>',
    "intvelocity": '<intvelocity {} gear="{}" kp="30" kv="1" actrange="0.2 0.6"/>',
    "damper": '<damper {} gear="{}" kv="3" ctrlrange="0 1"/>',
    "cylinder": '<cylinder {} gear="{}" area="5" timeconst="0.05" bias="1 -2 -0.5"/>',
    "muscle": '<muscle {} gear="{}" lengthrange="-2 2" force="30" range="0.7 1.1" vmax="1.4" fpmax="1.2" fvmax="1.1"/>',
    "muscle by its scale": '<muscle {} gear="{}" lengthrange="0.1 1.9" scale="20" tausmooth="0.3"/>',
    "filter": '<general {} gear="{}" dyntype="filter" dynprm="0.2" gainprm="3" actlimited="true" actrange="0 0.5"/>',
    "exact filter": '<general {} gear="{}" dyntype="filterexact" dynprm="0.2" gainprm="3" biastype="affine" biasprm="1 0 0"/>',
    "early": '<general {} gear="{}" dyntype="filter" dynprm="0.2" gainprm="3" actearly="true"/>',
    "rising with the length": '<general {} gear="{}" gaintype="affine" gainprm="1 2 0.5" biastype="affine" biasprm="1 2 0.3"/>',
}


def drives_model(folder, base="", tendons="", actuators=""):
    """A tree with hinge, slide and ball joints, sites and geoms to go around."""
    file = folder / "model.xml"
    file.write_text(DRIVES.format(base=base, tendons=tendons, actuators=actuators))
    return file


def gym_model(name):
    """A file that comes with Gymnasium."""
    gymnasium = pytest.importorskip("gymnasium")
    return Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets" / f"{name}.xml"


def write_everything(folder):
    """A file that says things in many ways."""
    (folder / "parts").mkdir()
    points = [[0, 0, 0], [2, 0, 0], [0, 3, 0], [0.3, 0.2, 4], [1, 1, 2]]
    trimesh.convex.convex_hull(np.array(points)).export(folder / "parts" / "wedge.obj")
    file = folder / "everything.xml"
    file.write_text(EVERYTHING)
    return file
